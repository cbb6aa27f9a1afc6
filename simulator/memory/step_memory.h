// Memory of one step: live bytes by class after every instruction and the highest within it.
//
// Follows the host: what an instruction allocates exists from its issue, what it frees is gone after it.
// Forward, Recompute and Backward are followed step by step through the segment's program, so what is freed
// progressively (saved tensors, incoming gradients) is freed where the real executor frees it. Not in it:
// what libraries allocate for themselves, and padding.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// One sample an instruction, in issue order; in every space what lives after it equals live_bytes_after(). A
// segment's program that leaves other bytes behind than its instruction says is an internal error that names
// the instruction. `plan` is one of the scenario's. `workspaces`: how many threads take an operator's
// workspace at once; 0 leaves it out.
Result<std::vector<MemorySample>> simulate_memory(const PlannedScenario& planned, const StepPlan& plan,
                                                  int workspaces);

}  // namespace shardlab
