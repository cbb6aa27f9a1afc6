// How the error of predictions went over time. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "gui/view_model/run_list.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// `clicked`: the measured run whose point was clicked.
struct TrendResult {
  std::optional<RunId> clicked;
  ImVec2 min{0, 0}, max{0, 0};  // of the plot, on the screen
};

TrendResult draw_trend(const std::vector<view::TrendPoint>& trend, const Theme& theme);

}  // namespace shardlab::gui
