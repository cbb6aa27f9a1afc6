// Times of steps and instructions from traces.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/base/units.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// A step lasts from the first instruction issued by any rank to the end of the last on any, on the clock that
// start_offset makes common.
Nanoseconds step_time(const StepTrace& step);

// The middle one; of an even number the mean of the middle two, rounded down. Must not be empty.
Nanoseconds median(std::vector<Nanoseconds> values);

// Each instruction's median over steps and ranks of end - start; absent where no rank ran it.
std::vector<std::optional<Nanoseconds>> median_durations(const StepPlan& plan,
                                                         std::span<const StepTrace> steps);

}  // namespace shardlab
