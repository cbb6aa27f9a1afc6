// The order in which one micro-batch enters the units, as a first pass over the model shows it.
#pragma once

#include <optional>
#include <vector>

#include "engine/model/partition.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Modules as they are entered, forward and backward; a recomputation enters them again. None stands for one
// without parameters.
std::vector<std::optional<UnitId>> record_trace(const ModelGraph& graph, const Partition& partition,
                                                const Scenario& scenario);

}  // namespace shardlab
