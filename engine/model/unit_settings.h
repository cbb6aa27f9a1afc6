// What a scenario decides unit by unit.
#pragma once

#include <optional>

#include "engine/base/dtype.h"
#include "engine/model/reshard_after_forward.h"

namespace shardlab {

// The mixed precision of one unit: FSDP1's MixedPrecision, FSDP2's MixedPrecisionPolicy.
struct UnitPrecision {
  DType param =
      DType::float32;  // of gathered parameters, their unreduced gradients and what the unit computes
  DType reduce = DType::float32;  // of the gradient reduction
  std::optional<DType> output;    // floating-point outputs of the module are cast to it (FSDP2)
  bool cast_inputs = true;        // floating-point inputs of the module are cast to `param`
  friend bool operator==(const UnitPrecision&, const UnitPrecision&) = default;
};

struct UnitSettings {
  UnitPrecision precision;
  ReshardAfterForward reshard_after_forward;
  friend bool operator==(const UnitSettings&, const UnitSettings&) = default;
};

}  // namespace shardlab
