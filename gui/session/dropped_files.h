// What files are that somebody drops on the window: by what they hold, where the ending of the name leaves it
// open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/base/result.h"

namespace shardlab::gui {

enum class DroppedKind : std::uint8_t {
  scenario,  // also a YAML file that is nobody's: it is shown with its mistakes
  model,     // a config.json
  database,
  trace,          // of torch.profiler
  configuration,  // of another tool: it becomes a scenario
  log,
  unknown,
};

struct DroppedFile {
  DroppedKind kind = DroppedKind::unknown;
  std::optional<Error> mistake{};  // why it is unknown, where it may be somebody's all the same
};

// Reads no more than a scenario may have.
DroppedFile examine_dropped(const std::filesystem::path& file);

}  // namespace shardlab::gui
