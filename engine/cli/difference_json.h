// What `diff --json` says beyond a comparison; field names are the contract in docs/json.md.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/cli/compare/compared_side.h"
#include "engine/report/run_difference.h"

namespace shardlab {

// `differs_in`
nlohmann::ordered_json settings_json(const std::vector<SettingDifference>& settings);

// `difference`
nlohmann::ordered_json difference_json(const RunDifference& difference);

}  // namespace shardlab
