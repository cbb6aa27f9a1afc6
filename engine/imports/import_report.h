// Imported scenarios as people and programs read them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/imports/made_import.h"
#include "engine/report/terminal.h"
#include "engine/report/text_table.h"

namespace shardlab {

// The files with the tools whose they are: "ds.json (deepspeed 0.19.8)".
std::string imported_files_words(const MadeImport& made);

// What is to be known of the scenario beside itself: what a tool fills in, decides or ignores, what is lost.
struct ImportNote {
  std::string kind;  // "lost", "warning", "tool"
  std::string text;
  Tone tone = Tone::plain;  // bad: lost; fair: a warning
};
std::vector<ImportNote> import_notes(const MadeImport& made);

// Both, a line each.
std::string import_text(const MadeImport& made, const TextStyle& style);

// The scenario as YAML, with the same lines as comments at its head.
std::string imported_yaml(const MadeImport& made);

// The document of docs/json.md.
nlohmann::ordered_json import_json(const MadeImport& made);

}  // namespace shardlab
