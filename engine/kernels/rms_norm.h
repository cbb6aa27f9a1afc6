// RMSNorm: y = (w + offset) * x / sqrt(mean(x^2) + epsilon), in float32 and rounded once. `offset` is 1 for
// Gemma, 0 else.
#pragma once

#include <cmath>

#include "engine/kernels/bfloat16.h"
#include "engine/kernels/pack.h"

namespace shardlab::kernels {

template <typename T, int N>
SHARDLAB_HD float sum_of_squares(const Pack<T, N>& pack) {
  const Pack<float, N> x = to_floats(pack);
  float squares = 0;
  for (int j = 0; j < N; ++j) squares += x.values[j] * x.values[j];
  return squares;
}

template <typename Lanes>
SHARDLAB_HD float reciprocal_rms(Lanes& lanes, float squares, std::int64_t width, float epsilon) {
  return 1.0F / sqrtf(lanes.sum(squares) / static_cast<float>(width) + epsilon);
}

template <typename T, int N>
SHARDLAB_HD Pack<T, N> normed(const Pack<T, N>& pack, const Pack<T, N>& weight, float r, float offset) {
  const Pack<float, N> x = to_floats(pack), w = to_floats(weight);
  Pack<float, N> y;
  for (int j = 0; j < N; ++j) y.values[j] = x.values[j] * r * (w.values[j] + offset);
  return from_floats<T>(y);
}

// Norms one row; `reciprocal` receives 1 / root mean square, for backward. x and y may be the same.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void rms_norm_row(Lanes& lanes, const T* x, const T* w, T* y, float* reciprocal,
                              std::int64_t width, float epsilon, float offset = 0) {
  float squares = 0;
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N)
    squares += sum_of_squares(load_pack<N>(x + i));
  const float r = reciprocal_rms(lanes, squares, width, epsilon);
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N)
    store_pack<N>(y + i, normed(load_pack<N>(x + i), load_pack<N>(w + i), r, offset));
  if (lanes.lane() == 0) *reciprocal = r;
}

// The same for a row of at most `Held` packs a lane: each lane asks for all of its row and its weight at
// once, and keeps them instead of reading them again. Lanes beyond the row read its last pack, so that no
// read waits for a branch.
template <int N, int Held, typename T, typename Lanes>
SHARDLAB_HD void rms_norm_held_row(Lanes& lanes, const T* x, const T* w, T* y, float* reciprocal,
                                   std::int64_t width, float epsilon, float offset = 0) {
  const auto at = [&](int k) { return (lanes.lane() + k * lanes.count()) * N; };
  const auto within = [&](int k) { return at(k) < width ? at(k) : width - N; };
  Pack<T, N> in[Held], weight[Held];
  for (int k = 0; k < Held; ++k) in[k] = load_pack<N>(x + within(k));
  for (int k = 0; k < Held; ++k) weight[k] = load_pack<N>(w + within(k));
  float squares = 0;
  for (int k = 0; k < Held; ++k) squares += at(k) < width ? sum_of_squares(in[k]) : 0.0F;
  const float r = reciprocal_rms(lanes, squares, width, epsilon);
  for (int k = 0; k < Held; ++k) {
    if (at(k) < width) store_pack<N>(y + at(k), normed(in[k], weight[k], r, offset));
  }
  if (lanes.lane() == 0) *reciprocal = r;
}

// With w the weight and its offset together, dx = r * (w * dy - x * r^2 * mean(w * dy * x)). dx may be dy.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void rms_norm_row_backward(Lanes& lanes, const T* dy, const T* x, const T* w, float r, T* dx,
                                       std::int64_t width, float offset = 0) {
  float products = 0;
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<float, N> d = to_floats(load_pack<N>(dy + i)), in = to_floats(load_pack<N>(x + i)),
                         weight = to_floats(load_pack<N>(w + i));
    for (int j = 0; j < N; ++j) products += (weight.values[j] + offset) * d.values[j] * in.values[j];
  }
  const float along = lanes.sum(products) / static_cast<float>(width) * r * r;
  for (std::int64_t i = lanes.lane() * N; i < width; i += lanes.count() * N) {
    const Pack<float, N> d = to_floats(load_pack<N>(dy + i)), in = to_floats(load_pack<N>(x + i)),
                         weight = to_floats(load_pack<N>(w + i));
    Pack<float, N> out;
    for (int j = 0; j < N; ++j)
      out.values[j] = r * ((weight.values[j] + offset) * d.values[j] - in.values[j] * along);
    store_pack<N>(dx + i, from_floats<T>(out));
  }
}

// dw of N columns over rows begin, begin + step ... below end: sums of dy * x * r.
template <int N = 1, typename T>
SHARDLAB_HD Pack<float, N> rms_norm_weight_gradient(const T* dy, const T* x, const float* reciprocals,
                                                    std::int64_t begin, std::int64_t end, std::int64_t column,
                                                    std::int64_t width, std::int64_t step = 1) {
  Pack<float, N> sums{};
  for (std::int64_t row = begin; row < end; row += step) {
    const std::int64_t at = row * width + column;
    const Pack<float, N> d = to_floats(load_pack<N>(dy + at)), in = to_floats(load_pack<N>(x + at));
    for (int j = 0; j < N; ++j) sums.values[j] += d.values[j] * in.values[j] * reciprocals[row];
  }
  return sums;
}

}  // namespace shardlab::kernels
