// Operators that call our own kernels (engine/kernels/cuda) on the current CUDA stream of the tensors'
// device: for contiguous CUDA tensors in float32 and bfloat16. Whatever else they are handed goes to the
// implementations for devices (operators/aten), whose contract they share.
#pragma once

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// The override of this name; null when there is none, as for every name in a build without nvcc.
const OperatorImplementation* find_cuda_implementation(std::string_view name);

extern const OperatorImplementation k_cuda_cross_entropy;
extern const OperatorImplementation k_cuda_rms_norm;
extern const OperatorImplementation k_cuda_rope;
extern const OperatorImplementation k_cuda_swiglu;

}  // namespace shardlab
