// The plan that imported traces show, for people and programs.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/formats/profiler/seen_plan.h"
#include "engine/report/terminal.h"

namespace shardlab {

// What was seen with how sure it is, a line each; `file` is named in what to do with it. Empty without a
// plan.
std::string seen_plan_text(const std::optional<SeenPlan>& plan, const std::string& file,
                           const TextStyle& style);

// `seen_plan` of docs/json.md; null without a plan.
nlohmann::ordered_json seen_plan_json(const std::optional<SeenPlan>& plan);

}  // namespace shardlab
