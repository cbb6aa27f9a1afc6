// Whether a trace belongs to a plan: what every function that joins the two relies on.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// The step has the given hash, at least one rank, no rank twice; spans and memory samples name instructions
// of the plan, each at most once and in order; nothing ends before it starts. `hash` is plan_hash(plan).
// A trace that breaks this, as a damaged file may, is bad_input.
Status check_trace(const StepPlan& plan, std::string_view hash, const StepTrace& step);

}  // namespace shardlab
