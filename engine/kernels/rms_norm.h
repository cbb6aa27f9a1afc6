// RMSNorm: y = (w + offset) * x / sqrt(mean(x^2) + epsilon), in float32 and rounded once. `offset` is 1 for Gemma, 0 else.
#pragma once

#include <cmath>

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

// Of one row; `reciprocal` receives 1 / root mean square, which backward needs. x and y may be the same.
template <typename T, typename Lanes>
SHARDLAB_HD void rms_norm_row(Lanes& lanes, const T* x, const T* w, T* y, float* reciprocal, std::int64_t width, float epsilon,
                              float offset = 0) {
  float squares = 0;
  for (std::int64_t i = lanes.lane(); i < width; i += lanes.count()) squares += to_float(x[i]) * to_float(x[i]);
  const float r = 1.0F / sqrtf(lanes.sum(squares) / static_cast<float>(width) + epsilon);
  for (std::int64_t i = lanes.lane(); i < width; i += lanes.count()) {
    y[i] = from_float<T>(to_float(x[i]) * r * (to_float(w[i]) + offset));
  }
  if (lanes.lane() == 0) *reciprocal = r;
}

// With w the weight and its offset together, dx = r * (w * dy - x * r^2 * mean(w * dy * x)). dx may be dy.
template <typename T, typename Lanes>
SHARDLAB_HD void rms_norm_row_backward(Lanes& lanes, const T* dy, const T* x, const T* w, float r, T* dx, std::int64_t width,
                                       float offset = 0) {
  float products = 0;
  for (std::int64_t i = lanes.lane(); i < width; i += lanes.count())
    products += (to_float(w[i]) + offset) * to_float(dy[i]) * to_float(x[i]);
  const float mean = lanes.sum(products) / static_cast<float>(width);
  for (std::int64_t i = lanes.lane(); i < width; i += lanes.count()) {
    dx[i] = from_float<T>(r * ((to_float(w[i]) + offset) * to_float(dy[i]) - to_float(x[i]) * r * r * mean));
  }
}

// dw of one column over rows [begin, end): sum of dy * x * r.
template <typename T>
SHARDLAB_HD float rms_norm_weight_gradient(const T* dy, const T* x, const float* reciprocals, std::int64_t begin, std::int64_t end,
                                           std::int64_t column, std::int64_t width) {
  float sum = 0;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t at = row * width + column;
    sum += to_float(dy[at]) * to_float(x[at]) * reciprocals[row];
  }
  return sum;
}

}  // namespace shardlab::kernels
