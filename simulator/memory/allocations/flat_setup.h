// What FullyShardedDataParallel takes on the device while it is set up, beside what it keeps. Private to this
// folder.
//
// Source: torch 2.11, fsdp/_init_utils.py and _flat_param.py, for a model that is materialized or moved unit
// by unit (param_init_fn, device_id): a module's units are made before itself; each has its parameters whole,
// joins them to one whole vector, cuts off the rank's part, and drops the vector and the parameters. Then the
// first forward makes and drops, unit by unit in the order of modules, the part and the vector to gather into
// in the dtype of compute, and with mixed precision the vector in full precision
// (init_flat_param_attributes).
#pragma once

#include <vector>

#include "engine/plan/planned_scenario.h"
#include "simulator/memory/allocations/allocation_list.h"

namespace shardlab {

// The buffers of a setup that are a rank's part of a flat vector, in the order of the plan.
std::vector<BufferId> flat_shards(const StepPlan& setup);

// Takes these, and all that passes on the way to them.
void take_flat_shards(const PlannedScenario& planned, const StepPlan& setup,
                      const std::vector<BufferId>& shards, AllocationList& list);

}  // namespace shardlab
