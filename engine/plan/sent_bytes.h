// What collectives put on the wire.
#pragma once

#include "engine/plan/step_plan.h"

namespace shardlab {

// Bytes that all ranks together send each other for a collective of the plan, which every group of its
// expression runs: of W ranks each sends (W - 1) / W of the full side, twice that for an all-reduce. No
// algorithm sends less; rings and direct exchange send exactly this. Zero for anything but a collective.
Bytes sent_bytes(const StepPlan& plan, const Instruction& instruction);

}  // namespace shardlab
