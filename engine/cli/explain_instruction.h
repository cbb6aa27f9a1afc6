// `plan --explain N`: one instruction in words.
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// The instruction exists in the plan. Text for people, ending with a newline.
std::string explain_instruction(const PlannedScenario& planned, const StepPlan& step, InstructionId id,
                                int rank);

// The same facts as the element of docs/json.md's `plan.explanation`.
Json explanation_json(const PlannedScenario& planned, const StepPlan& step, InstructionId id, int rank);

}  // namespace shardlab
