// What differs between two plans, for people.
#pragma once

#include <string>

#include "engine/plan/step_plan.h"

namespace shardlab {

// Lines of the text form that only one plan has, marked `-` (the first) and `+` (the second), with the lines
// around them. Instruction numbers are left out of the comparison, so an inserted instruction is one line; a
// wait is shown by what it waits for. Empty when the plans are equal but for who made what. Plans with next
// to nothing in common yield a summary by instruction kind.
std::string diff_plans(const StepPlan& before, const StepPlan& after);

}  // namespace shardlab
