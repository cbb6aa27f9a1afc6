// What the plan says about the gathered side of a unit.
#pragma once

#include "engine/plan/step_plan.h"

namespace shardlab {

// The largest buffer that holds all parameters of the unit on this rank; 0 under strategies that gather
// nothing.
Bytes gathered_bytes(const StepPlan& step, UnitId unit);

// How often the parameters that compute reads are gathered in the step.
int times_gathered(const StepPlan& step, UnitId unit);

}  // namespace shardlab
