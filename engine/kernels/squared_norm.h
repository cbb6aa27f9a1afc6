// The norm of gradients and clipping by it. Source of the factor: torch 2.11, nn/utils/clip_grad.py.
#pragma once

#include "engine/kernels/bfloat16.h"
#include "engine/kernels/pack.h"

namespace shardlab::kernels {

template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD float sum_of_squares(Lanes& lanes, const T* values, std::int64_t count) {
  float sum = 0;
  for (std::int64_t i = lanes.lane() * N; i < count; i += lanes.count() * N) {
    const Pack<T, N> pack = load_pack<N>(values + i);
    for (int j = 0; j < N; ++j) sum += to_float(pack.values[j]) * to_float(pack.values[j]);
  }
  return lanes.sum(sum);
}

// What gradients are multiplied with: min(1, limit / (norm + 1e-6)).
SHARDLAB_HD float clip_factor(float norm, float limit) {
  const float factor = limit / (norm + 1e-6F);
  return factor < 1.0F ? factor : 1.0F;
}

template <typename T>
SHARDLAB_HD T clipped(T gradient, float factor) {
  return from_float<T>(to_float(gradient) * factor);
}

}  // namespace shardlab::kernels
