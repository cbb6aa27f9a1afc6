// The implementations by their own names, for the registry and for those that call each other.
#pragma once

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {

#define SHARDLAB_DECLARE_IMPLEMENTATION(name, device) \
  extern const OperatorImplementation k_##name##_implementation;
SHARDLAB_OPERATORS(SHARDLAB_DECLARE_IMPLEMENTATION)
#undef SHARDLAB_DECLARE_IMPLEMENTATION

}  // namespace shardlab
