// How far predictions of reserved memory were from real runs of the same program.
#pragma once

#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// Real over predicted, of every case of assets/residuals/reserved_memory.yaml, which says where they are
// from. Errors: a file that is missing or malformed.
Result<std::vector<double>> read_reserved_ratios();

}  // namespace shardlab
