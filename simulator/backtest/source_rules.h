// Rules that say what a published row means as a scenario: what its columns stand for, and what its source
// implies without printing it. They are data, assets/backtest/*.yaml, each with why and where that is said;
// assets/backtest/README.md documents them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"
#include "engine/trace/backtest.h"
#include "simulator/backtest/published_table.h"

namespace shardlab {

// A cell agrees when it is like one of the patterns: * stands for any text, ? for any
// character, an empty pattern for an empty cell.
struct CellCondition {
  std::string column;
  std::vector<std::string> patterns;
};

struct RuleSetting {
  std::string key;  // dotted, of a scenario
  // Text in which `$column` is the row's cell; `$a|$b|8` the first that is not empty. With `lookup` the entry
  // of `in` for the cell of that column.
  YamlNode value;
};

struct SourceRule {
  std::string name;
  std::vector<CellCondition> when;    // all agree
  std::vector<CellCondition> unless;  // none agrees
  std::optional<BacktestMetric> metric;
  std::vector<RuleSetting> settings;
  std::string refuse;   // why such a row cannot be expressed; empty: it can
  std::string nearest;  // in what the scenario differs from the run; empty: it does not
  std::string kind;     // a word under which such rows are added up as well
  std::string series;   // rows that are not independent of each other
  std::string because;
  std::string source;
  Place place;
};

// A file of rules. bad_input with the place: unknown or missing fields, columns that do not exist.
Result<std::vector<SourceRule>> parse_rules(std::string_view yaml, std::string_view name);

// The files *.yaml of a folder in the order of their names: later rules have the last word.
Result<std::vector<SourceRule>> read_rules(const std::filesystem::path& folder);

bool matches(const SourceRule& rule, const PublishedRun& run, BacktestMetric metric);

// bad_input for a rule that matches a single row of the table, or none: it would be a constant for a row.
Status check_rules(const std::vector<SourceRule>& rules, const PublishedTable& table);

}  // namespace shardlab
