// The open scenario as one tool's files, with what their differences cost: by the code of `shardlab export`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "simulator/exports/made_export.h"

namespace shardlab::view {

struct ExportWish {
  std::string text;
  std::string file_name;                  // for messages; its folder is where relative paths begin
  std::string target;                     // empty: the first that can run the scenario
  std::vector<std::string> calibrations;  // JSON texts, newest first
  std::string calibrations_from;          // for messages about them
};

struct OfferedTarget {
  std::string_view name;  // "accelerate"
  std::string words;      // "accelerate 1.15"
  std::string help;
  std::string refusal;  // why it cannot run the scenario; empty: it can
};

// The scenario may say what is not built yet: then there are files and no predictions.
struct PreparedExport {
  std::optional<Error> error;  // the scenario's mistakes; then the targets and the files are empty
  std::vector<OfferedTarget> targets;
  MadeExport made;
};

// Reads the model that the scenario names and predicts each difference alone and all together: for a thread.
PreparedExport prepare_export(const ExportWish& wish);

}  // namespace shardlab::view
