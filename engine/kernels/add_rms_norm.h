// The residual sum and the norm that reads it, in one pass: sum = x + residual, y = RMSNorm(sum).
#pragma once

#include "engine/kernels/rms_norm.h"

namespace shardlab::kernels {

// `sum` may be `residual`. Each lane reads back only what it wrote itself.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void add_rms_norm_row(Lanes& lanes, const T* x, const T* residual, const T* w, T* sum, T* y,
                                  float* reciprocal, std::int64_t width, float epsilon) {
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<T, N> a = load_pack<N>(x + i), b = load_pack<N>(residual + i);
    Pack<T, N> both;
    for (int j = 0; j < N; ++j) both.values[j] = from_float<T>(to_float(a.values[j]) + to_float(b.values[j]));
    store_pack<N>(sum + i, both);
  }
  rms_norm_row<N>(lanes, sum, w, y, reciprocal, width, epsilon);
}

}  // namespace shardlab::kernels
