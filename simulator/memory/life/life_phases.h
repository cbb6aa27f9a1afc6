// Memory of a job's phases: construction, loading, sharding, steps, evaluation, saving, resuming.
//
// `device` is what tensors take, as the plan counts them, on the rank with most; what the allocator keeps
// from the steps can be given back and is not in it. `host` is of the node with most: its processes
// (memory/overheads) and what the phase keeps in host memory. Sources by row; PyTorch's are of 2.11.
#pragma once

#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/trace/life_phase.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct Device;  // engine/hardware/device.h

// `predicted` holds the simulated setup, first and steady step and the overheads. Every phase has a row;
// which of them the job has is `asked`.
std::vector<PhaseMemory> life_phases(const PlannedScenario& planned, const Device& device,
                                     const RunTrace& predicted);

}  // namespace shardlab
