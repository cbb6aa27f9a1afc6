// Imported scenarios as people and programs read them.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/cli/imports/made_import.h"
#include "engine/report/terminal.h"

namespace shardlab {

// What was read, taken, lost and is to be known, a line each.
std::string import_text(const MadeImport& made, const TextStyle& style);

// The scenario as YAML, with the same lines as comments at its head.
std::string imported_yaml(const MadeImport& made);

// The document of docs/json.md.
nlohmann::ordered_json import_json(const MadeImport& made);

}  // namespace shardlab
