// What a cost consists of, for "why?".
#pragma once

#include <string>
#include <vector>

#include "engine/base/units.h"

namespace shardlab {

struct CostBreakdown {
  double nanoseconds = 0;
  std::string term;     // "matmul", "all_gather" ...
  std::string formula;  // with the numbers filled in: "268 MFLOP / 31.2 GFLOP/s * (64 + 12)/64 + 4.1 us"
  std::vector<CostBreakdown> parts;
};

}  // namespace shardlab
