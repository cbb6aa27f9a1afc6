// Reading the data files of tests/data/plans and making plans for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"

namespace shardlab::test {

// A data file: `#` comments, `set key=value` overrides, and the other lines.
struct PlanCase {
  std::string name;
  std::vector<std::string> overrides;
  std::vector<std::string> lines;
};

// All .txt files of a folder of tests/data/plans, by name.
std::vector<PlanCase> read_cases(const std::string& folder);

// The small Llama of the recorded cases (4 layers of width 64, 2 sequences of 16 tokens, 2 ranks) with
// overrides.
PlannedScenario plan_small_llama(const std::vector<std::string>& overrides);
Scenario small_llama(const std::vector<std::string>& overrides);
Result<Scenario> parse_small_llama(const std::vector<std::string>& overrides);

// The text after the first word of the line that begins with `key`; empty when there is none.
std::string value_of(const PlanCase& plan_case, const std::string& key);

}  // namespace shardlab::test
