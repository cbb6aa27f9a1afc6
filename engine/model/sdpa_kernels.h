// What torch's scaled_dot_product_attention runs on a device, where that keeps other tensors than attention
// says: no fused kernel but the formula, scores and all; or one that writes its output as the queries lie,
// head by head. A graph pass.
//
// Source: torch 2.11, ATen/native/transformers/cuda/sdp_utils.cpp: flash attention takes 16-bit numbers from
// compute capability 8.0 on and heads up to 256 wide (on 8.6, 8.9 and 12.x with gradients not those of 193 to
// 224); the memory-efficient kernel takes float32 and float16, from 8.0 on bfloat16 too, heads whose width
// its loads divide, and no query heads that share a key head (check_batch_size_and_num_heads_dense).
#pragma once

#include <cstdint>

#include "engine/base/dtype.h"
#include "engine/model/model_graph.h"

namespace shardlab {

struct AttentionHeads {
  DType dtype = DType::float32;
  std::int64_t width = 0;
  bool grouped = false;  // several query heads read one key head
};

// `capability`: ten times the compute capability of an NVIDIA GPU.
bool has_fused_kernel(int capability, const AttentionHeads& heads);

// Once operators have their dtypes: attention of queries, keys and values apart, without a mask, becomes
// eager_math_attention where there is no kernel for it, and eager_copied_attention where flash attention or
// cuDNN's kernel read queries that a concatenation made. A capability of 0, of other makers' GPUs and of
// processors, changes nothing. Whether anything changed.
bool choose_sdpa_kernels(ModelGraph& graph, int capability);

}  // namespace shardlab
