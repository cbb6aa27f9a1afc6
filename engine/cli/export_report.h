// Exports as people and programs read them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/terminal.h"
#include "simulator/exports/made_export.h"

namespace shardlab {

// What became of the files.
struct ExportOutcome {
  std::filesystem::path folder;  // where they lie, if they were written
  bool written = false;
  bool print_files = false;
  std::vector<std::string> missing;  // settings that are lost and were not accepted
};

std::string exports_text(std::span<const MadeExport> exports, const ExportOutcome& outcome,
                         const TextStyle& style);

// Lines for stderr: what does not fit, or only just, and for which targets. A tool's file may have no room
// for comments.
std::vector<std::string> notes_on_memory(std::span<const MadeExport> exports);

// The list `exports` of docs/json.md.
nlohmann::ordered_json exports_json(std::span<const MadeExport> exports, const ExportOutcome& outcome);

}  // namespace shardlab
