// Sizes that the plan says: the gathered side of a unit, and what collectives put on the wire.
#pragma once

#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab {

// The largest buffer that holds all parameters of the unit on this rank; 0 under strategies that gather
// nothing.
Bytes gathered_bytes(const StepPlan& step, UnitId unit);
// That of every unit, by its number, in one pass over the buffers.
std::vector<Bytes> gathered_bytes(const StepPlan& step);

// How often the parameters that compute reads are gathered in the step; by unit in one pass.
int times_gathered(const StepPlan& step, UnitId unit);
std::vector<int> times_gathered(const StepPlan& step);

// What collectives put on the wire.

// Bytes that all ranks together send each other for a collective of the plan, which every group of its
// expression runs: of W ranks each sends (W - 1) / W of the full side, twice that for an all-reduce. No
// algorithm sends less; rings and direct exchange send exactly this. Zero for anything but a collective. Of
// many ranks it may be more than an integer holds, and is the largest one then.
Bytes sent_bytes(const StepPlan& plan, const Instruction& instruction);
// How many times the full side that is.
std::int64_t times_sent(const StepPlan& plan, const Instruction& instruction);

}  // namespace shardlab
