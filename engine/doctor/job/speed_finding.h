// Findings about time: proposed where the prediction says that the step gets shorter.
#pragma once

#include <string>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"

namespace shardlab {

// A finding that is at most a warning, on processors only worth knowing, and of which one of the alternatives
// (each a list of settings) is proposed: the one with which most tokens are processed. Without `needs_a_fix`
// it is said as well where none helps, as worth knowing.
Finding speed_finding(const Rule& rule, const Case& facts, std::vector<std::vector<std::string>> alternatives,
                      bool needs_a_fix = true);

// A finding whose fix is what the first of the alternatives is that the scenario allows, with its effect. A
// warning stays one where the step gets shorter by 10 %, an error in any case.
Finding effect_finding(const Rule& rule, const Case& facts,
                       std::vector<std::vector<std::string>> alternatives);

// Whether the steps fit, so that time is worth a thought.
bool steps_fit(const Case& facts);

bool is_on_gpus(const Case& facts);

}  // namespace shardlab
