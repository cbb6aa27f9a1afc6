// In which settings two scenarios differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// As a run keeps it.
struct ScenarioText {
  std::string_view yaml;
  std::string_view name;  // stands for the file
};

// Defaults included.
struct SettingDifference {
  std::string key;  // dotted
  std::string first, second;
};

// In the order of the first scenario, then of the second; without name, description and tags. Empty also
// where one is none (a run of an imported trace has no scenario). Errors: a file that a scenario
// names cannot be read now (is_of_the_machine).
Result<std::vector<SettingDifference>> setting_differences(const ScenarioText& first,
                                                           const ScenarioText& second);

}  // namespace shardlab
