// Whether a step is short enough to be simulated.
#pragma once

#include <span>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"
#include "simulator/core/timeline.h"

namespace shardlab {

// Times are integers of nanoseconds. A step of 100 days at most leaves room for everything that makes it
// longer on a timeline and that adds up times of ranks. bad_input at the longest instruction. `instructions`:
// by position in the plan.
Status check_step_length(const StepPlan& plan, std::span<const TimedInstruction> instructions);

}  // namespace shardlab
