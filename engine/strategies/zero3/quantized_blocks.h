// Blocks of what ZeRO++ quantises: neighbouring numbers that share one float32 scale.
//
// Source: DeepSpeed 0.19.8. Weights (runtime/zero/partition_parameters.py, CUDAQuantizer.quantize): as few
// blocks as there may be of at most 8,000 numbers each, all of one length, a multiple of eight. Gradients
// (runtime/comm/coalesced_collectives.py, all_to_all_quant_reduce): as many as the larger of the first two
// dimensions.
#pragma once

#include <cstdint>

#include "engine/model/model_graph.h"

namespace shardlab {

// What the length of a block of weights is a multiple of.
inline constexpr std::int64_t k_weights_at_once = 8;

// Blocks of so many weights, which are a multiple of k_weights_at_once.
std::int64_t weight_blocks(std::int64_t elements);

// Whether a gradient of this shape is quantised: a matrix that all ranks divide into whole bytes of two
// numbers.
bool quantizes_gradient(const Shape& shape, int ranks);
// Blocks of one that is.
std::int64_t gradient_blocks(const Shape& shape, int ranks);

}  // namespace shardlab
