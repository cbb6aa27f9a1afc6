// The operators on tensors of any device: the same contract as the implementations of the folder above,
// written with ATen's operators alone. No host pointer, and nothing that waits for a device unless the file
// says so. They are what a CUDA device runs where it has no override (execute/torch/cuda/operators), and CPU
// tests compare them with the others.
//
// What they cannot do without waiting is check values: tokens, targets or experts out of range end in the
// device's own assertion, and a router that gives NaN gives NaN weights.
#pragma once

#include "engine/execute/torch/operators/implementation_list.h"

namespace shardlab {

// By the name of the OperatorType: k_device_<name>, or the implementation of the folder above where that is
// made of ATen's operators anyway (engine/model/operators/operator_list.h says which). Null when there is
// none.
const OperatorImplementation* find_device_implementation(std::string_view name);

#define SHARDLAB_DECLARE_DEVICE_own(name) extern const OperatorImplementation k_device_##name;
#define SHARDLAB_DECLARE_DEVICE_same(name)
#define SHARDLAB_DECLARE_DEVICE(name, device) SHARDLAB_DECLARE_DEVICE_##device(name)
SHARDLAB_OPERATORS(SHARDLAB_DECLARE_DEVICE)
#undef SHARDLAB_DECLARE_DEVICE
#undef SHARDLAB_DECLARE_DEVICE_same
#undef SHARDLAB_DECLARE_DEVICE_own

}  // namespace shardlab
