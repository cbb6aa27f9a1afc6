// The operators on tensors of any device: the same contract as the implementations of the folder above,
// written with ATen's operators alone. No host pointer, and nothing that waits for a device unless the file
// says so. They are what a CUDA device runs where it has no override (execute/torch/cuda/operators), and CPU
// tests compare them with the others.
//
// What they cannot do without waiting is check values: tokens, targets or experts out of range end in the
// device's own assertion, and a router that gives NaN gives NaN weights.
#pragma once

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// One for each of operator_implementations(), sorted by name: the same where that is made of ATen's operators
// anyway. To add one: a file in this folder, a line in device_registry.cpp.
const std::vector<const OperatorImplementation*>& device_operator_implementations();
const OperatorImplementation* find_device_implementation(
    std::string_view name);  // nullptr when there is none

extern const OperatorImplementation k_device_add_positions;
extern const OperatorImplementation k_device_attention;
extern const OperatorImplementation k_device_combine;
extern const OperatorImplementation k_device_cross_entropy;
extern const OperatorImplementation k_device_dispatch;
extern const OperatorImplementation k_device_distillation_loss;
extern const OperatorImplementation k_device_eager_masked_attention;
extern const OperatorImplementation k_device_embedding;
extern const OperatorImplementation k_device_geglu;
extern const OperatorImplementation k_device_gelu;
extern const OperatorImplementation k_device_grouped_linear;
extern const OperatorImplementation k_device_layer_norm;
extern const OperatorImplementation k_device_linear;
extern const OperatorImplementation k_device_rms_norm;
extern const OperatorImplementation k_device_rope;
extern const OperatorImplementation k_device_router_loss;
extern const OperatorImplementation k_device_router_sums;
extern const OperatorImplementation k_device_soft_cap;
extern const OperatorImplementation k_device_swiglu;
extern const OperatorImplementation k_device_token_chunked_loss;
extern const OperatorImplementation k_device_top_k;
extern const OperatorImplementation k_device_vocabulary_chunked_loss;

}  // namespace shardlab
