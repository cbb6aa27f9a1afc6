// How likely a predicted run fits its device, and between what its need may lie.
#pragma once

#include "engine/base/units.h"

namespace shardlab {

struct FitEstimate {
  double probability = 1;  // that its steps run, with the allocator's retries if need be
  Bytes low, high;         // 80 % band of what the device holds where memory has no limit

  friend bool operator==(const FitEstimate&, const FitEstimate&) = default;
};

}  // namespace shardlab
