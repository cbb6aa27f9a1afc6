// Blocks of what ZeRO++ quantises: neighbouring numbers that share one float32 scale.
//
// Source: DeepSpeed 0.19.8, runtime/zero/partition_parameters.py (CUDAQuantizer.quantize): as few blocks as
// there may be of at most 8,000 numbers each, all of one length, a multiple of eight.
#pragma once

#include <cstdint>

namespace shardlab {

// What the length of a block of weights is a multiple of.
inline constexpr std::int64_t k_weights_at_once = 8;

// Blocks of so many weights, which are a multiple of k_weights_at_once.
std::int64_t weight_blocks(std::int64_t elements);

}  // namespace shardlab
