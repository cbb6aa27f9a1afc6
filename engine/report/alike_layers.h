// Rows of a model's layers that say the same, as one row.
#pragma once

#include <vector>

#include "engine/report/run_difference.h"

namespace shardlab {

// The rows with neighbouring layers of which both figures lie within a hundredth of each other as one,
// "layers 1 to 29, each", with their means; fewer than three stay apart. The others as they are, all by the
// first figure, the largest first.
std::vector<DifferenceRow> with_alike_layers_joined(const std::vector<DifferenceRow>& rows);

}  // namespace shardlab
