// Rotary position embedding in the half-split form of transformers' apply_rotary_pos_emb: element i of a head turns with element
// i + half.
#pragma once

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

// Turns the pair (i, i + half) of one head in place. `direction` +1 in forward, -1 in backward: the gradient turns back.
template <typename T>
SHARDLAB_HD void rotate_pair(T* head, std::int64_t i, std::int64_t half, float cosine, float sine, float direction) {
  const float a = to_float(head[i]), b = to_float(head[i + half]), s = direction * sine;
  head[i] = from_float<T>(a * cosine - b * s);
  head[i + half] = from_float<T>(b * cosine + a * s);
}

}  // namespace shardlab::kernels
