// Which instruction of a plan a text of a lesson means.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab::lessons {

// A number ("52"), a whole label ("52 Backward s6 mb0"), or the words behind the number, of which the first
// instruction in the plan that begins with them is taken ("Backward s6", "AllGather"). bad_input without a
// place where there is none.
Result<InstructionId> found_instruction(const StepPlan& plan, const std::string& text);

}  // namespace shardlab::lessons
