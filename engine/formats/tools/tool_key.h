// One key of another tool's file.
#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "engine/formats/tools/export_subject.h"
#include "engine/formats/tools/read_back.h"

namespace shardlab {

using ToolValue = nlohmann::ordered_json;

// The value that a key gets for a scenario; null: the key is left out.
using ToolValueOf = ToolValue (*)(const ExportSubject& subject);

struct ToolKey {
  std::string_view key;      // dotted: "fsdp_config.fsdp_version"
  std::string_view setting;  // of docs/scenario.md, which the key says whole; empty: none
  ToolValueOf value;
  std::string_view absent;  // what the tool takes where the key is left out
  // The setting for a value of the key, null where it is left out; a null function: other keys say it.
  SettingOf read = nullptr;
};

// Keys that are written together, or not at all.
struct ToolTable {
  std::span<const ToolKey> keys;
  bool (*applies)(const ExportSubject& subject);  // null: to every scenario
  std::string_view section = {};                  // of the file, in which the keys stand; empty: its root
};

bool applies(const ToolTable& table, const ExportSubject& subject);

// The tree of a file, in the order of tables and keys.
ToolValue tool_tree(std::span<const ToolTable> tables, const ExportSubject& subject);

// The same as YAML 1.1 in block style, as PyYAML reads it: texts that it would take for something else are
// quoted.
std::string tool_yaml(const ToolValue& tree);

}  // namespace shardlab
