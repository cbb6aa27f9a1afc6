// Settings that cut the same global batch in other micro-batches.
#pragma once

#include <string>
#include <vector>

#include "engine/scenario/scenario.h"

namespace shardlab {

// Smaller micro-batches with more accumulation, the largest first; each also with gradients reduced in every
// micro-batch, where they would else be kept whole until the last.
std::vector<std::vector<std::string>> smaller_micro_batches(const Scenario& scenario);

// Larger micro-batches with less accumulation; nothing where nothing is accumulated.
std::vector<std::vector<std::string>> larger_micro_batches(const Scenario& scenario);

// Larger micro-batches, and with them a larger global batch: twice, four and eight times.
std::vector<std::vector<std::string>> larger_global_batches(const Scenario& scenario);

}  // namespace shardlab
