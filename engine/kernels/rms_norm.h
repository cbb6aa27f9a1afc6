// RMSNorm: y = (w + offset) * x / sqrt(mean(x^2) + epsilon), in float32 and rounded once. `offset` is 1 for
// Gemma, 0 else.
#pragma once

#include <cmath>

#include "engine/kernels/bfloat16.h"
#include "engine/kernels/pack.h"

namespace shardlab::kernels {

// Norms one row; `reciprocal` receives 1 / root mean square, for backward. x and y may be the same.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void rms_norm_row(Lanes& lanes, const T* x, const T* w, T* y, float* reciprocal,
                              std::int64_t width, float epsilon, float offset = 0) {
  float squares = 0;
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<T, N> in = load_pack<N>(x + i);
    for (int j = 0; j < N; ++j) squares += to_float(in.values[j]) * to_float(in.values[j]);
  }
  const float r = 1.0F / sqrtf(lanes.sum(squares) / static_cast<float>(width) + epsilon);
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<T, N> in = load_pack<N>(x + i), weight = load_pack<N>(w + i);
    Pack<T, N> out;
    for (int j = 0; j < N; ++j)
      out.values[j] = from_float<T>(to_float(in.values[j]) * r * (to_float(weight.values[j]) + offset));
    store_pack<N>(y + i, out);
  }
  if (lanes.lane() == 0) *reciprocal = r;
}

// With w the weight and its offset together, dx = r * (w * dy - x * r^2 * mean(w * dy * x)). dx may be dy.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void rms_norm_row_backward(Lanes& lanes, const T* dy, const T* x, const T* w, float r, T* dx,
                                       std::int64_t width, float offset = 0) {
  float products = 0;
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<T, N> d = load_pack<N>(dy + i), in = load_pack<N>(x + i), weight = load_pack<N>(w + i);
    for (int j = 0; j < N; ++j)
      products += (to_float(weight.values[j]) + offset) * to_float(d.values[j]) * to_float(in.values[j]);
  }
  const float along = lanes.sum(products) / static_cast<float>(width) * r * r;
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<T, N> d = load_pack<N>(dy + i), in = load_pack<N>(x + i), weight = load_pack<N>(w + i);
    Pack<T, N> out;
    for (int j = 0; j < N; ++j) {
      const float direct = (to_float(weight.values[j]) + offset) * to_float(d.values[j]);
      out.values[j] = from_float<T>(r * (direct - to_float(in.values[j]) * along));
    }
    store_pack<N>(dx + i, out);
  }
}

// dw of N columns over rows begin, begin + step ... below end: sums of dy * x * r.
template <int N = 1, typename T>
SHARDLAB_HD Pack<float, N> rms_norm_weight_gradient(const T* dy, const T* x, const float* reciprocals,
                                                    std::int64_t begin, std::int64_t end, std::int64_t column,
                                                    std::int64_t width, std::int64_t step = 1) {
  Pack<float, N> sums{};
  for (std::int64_t row = begin; row < end; row += step) {
    const Pack<T, N> d = load_pack<N>(dy + row * width + column), in = load_pack<N>(x + row * width + column);
    for (int j = 0; j < N; ++j)
      sums.values[j] += to_float(d.values[j]) * to_float(in.values[j]) * reciprocals[row];
  }
  return sums;
}

}  // namespace shardlab::kernels
