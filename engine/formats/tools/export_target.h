// A tool that scenarios are exported to, and what an export consists of.
//
// To add one: a folder in engine/formats with its tables (tool_key.h, setting_rule.h), and a line in
// export_targets.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/tools/setting_rule.h"
#include "engine/formats/tools/tool_key.h"

namespace shardlab {

struct ExportedFile {
  std::string name;
  std::string text;
  bool executable = false;
};

struct ExportDifference {
  std::string setting;
  DifferenceKind kind;
  std::string scenario;  // what the scenario says
  std::string instead;   // as in SettingRule
  std::string why;
};

struct Export {
  std::vector<ExportedFile> files;
  std::vector<ExportDifference> differences;  // in the order of docs/scenario.md
};

// Why a target cannot run a scenario at all.
struct TargetRefusal {
  std::string why;                                 // empty: it can
  std::string_view setting = "parallel.strategy";  // of docs/scenario.md, to which it is due
};

struct ExportTarget {
  std::string_view name;     // "accelerate"
  std::string_view version;  // whose behaviour is written down; with a name where it is another tool's
  std::string_view help;
  TargetRefusal (*refuses)(const ExportSubject& subject);
  // All tables of the target, for the test that every setting is in one of them and for docs/formats.md.
  std::vector<ToolTable> keys;
  std::vector<std::span<const SettingRule>> rules;
  // The files. `head`: lines for the head of a file, where its format has comments.
  std::vector<ExportedFile> (*write)(const ExportSubject& subject, std::span<const std::string> head);
  bool is_trainer = false;  // transformers' Trainer reads it
};

std::span<const ExportTarget> export_targets();

// Null for an unknown name.
const ExportTarget* find_export_target(std::string_view name);

// "accelerate 1.15", "slurm with torch 2.11".
std::string words_of(const ExportTarget& target);

// The text of docs/formats.md.
std::string export_reference();

// What runs instead of the scenario where the target's files are used.
std::vector<ExportDifference> export_differences(const ExportTarget& target, const ExportSubject& subject);

// `key=value` of the lost and added settings: overrides under which the scenario is what the files run.
std::vector<std::string> overrides_of(std::span<const ExportDifference> differences);

}  // namespace shardlab
