// What the random masks of dropout follow from: the same for a sequence whatever rank computes it and however
// often a forward pass is run again, another in every step and operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/scenario/scenario.h"

namespace shardlab {

// One for each sequence of a rank's micro-batch, in their order in it. `operation`: the operator's place in
// its graph. Steps are counted from 0.
std::vector<std::uint64_t> mask_seeds(const Scenario& scenario, std::int64_t step, int rank, int micro_batch,
                                      std::size_t operation);

}  // namespace shardlab
