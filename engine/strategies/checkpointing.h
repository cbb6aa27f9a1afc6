// Activation checkpointing as the scenario asks for it.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/model/partition.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// None without activation.checkpoint. What operators of a selective checkpoint make becomes tensors of
// `graph`.
Result<std::vector<CheckpointRegion>> regions_of(const Scenario& scenario, ModelGraph& graph);

// Refuses regions that have no effect on the units as asked, or with which the mirrored framework fails.
Status check_regions(const Scenario& scenario, const ModelGraph& graph, const Partition& partition);

}  // namespace shardlab
