// Every instruction of the compared runs as a point: predicted against measured. Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gui/view_model/run_comparison.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

enum class ScatterForm : std::uint8_t {
  error,   // the error over the reference's time
  values,  // the run's time over the reference's time, with the lines of +-10 %
};

struct ScatterResult {
  std::optional<InstructionId> clicked;
  std::optional<view::ScatterPoint> asked;  // why its time is what it is
  ImVec2 min{0, 0}, max{0, 0};
};

// `label` names an instruction in the tooltip.
ScatterResult draw_scatter(const view::RunComparison& comparison, ScatterForm form,
                           std::optional<InstructionId> chosen,
                           const std::function<std::string(InstructionId)>& label, ImVec2 size,
                           const Theme& theme);

}  // namespace shardlab::gui
