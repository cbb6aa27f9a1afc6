// Which of a run's plans `--step` means.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// "setup", "first", "steady", or a step's number as in a loss curve: 0 is the first step, later ones are
// steady, the second sometimes not yet. Anything else is bad_input.
Result<const StepPlan*> select_step(const RunPlan& plan, const std::string& step);

}  // namespace shardlab
