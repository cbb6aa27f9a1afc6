// Layer norm. Private to isa_*.cpp.
#pragma once

#include "engine/execute/torch/kernels/body/vector.h"

namespace shardlab::SHARDLAB_ISA {

// The first `count` lanes, zero behind them.
SHARDLAB_INLINE Floats first_of(Floats value, std::int64_t count) {
  if (count >= k_lanes) return value;
  float part[k_lanes] = {};
  store(part, value, count);
  return load(part);
}

// The mean first, then the mean of squared distances from it: nothing cancels for rows far from zero.
template <typename T>
void layer_norm_forward(const T* x, const T* w, const T* b, float epsilon, std::int64_t rows,
                        std::int64_t width, T* y, float* mean, float* reciprocal) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    Floats sums{};
    for (std::int64_t i = 0; i < width; i += k_lanes) sums += load(x + i, width - i);
    const float m = sum_of(sums) / static_cast<float>(width);
    Floats squares{};
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const Floats distance = first_of(load(x + i, width - i) - m, width - i);
      squares += distance * distance;
    }
    const float r = 1.0f / __builtin_sqrtf(sum_of(squares) / static_cast<float>(width) + epsilon);
    mean[row] = m;
    reciprocal[row] = r;
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const Floats value = (load(x + i, width - i) - m) * r * load(w + i, width - i);
      store(y + i, b ? value + load(b + i, width - i) : value, width - i);
    }
  }
}

// With n = width, z = (x - mean) r, g = dy w: dx = r (g - sum(g) / n - z sum(g z) / n), dw = sum over rows of
// dy z, db of dy.
template <typename T>
void layer_norm_backward(const T* dy, const T* x, const T* w, const float* mean, const float* reciprocal,
                         std::int64_t rows, std::int64_t width, T* dx, float* dw, float* db) {
  for (std::int64_t row = 0; row < rows; ++row, dy += width, x += width) {
    const float m = mean[row], r = reciprocal[row];
    Floats direct{}, along{};
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const std::int64_t left = width - i;
      const Floats d = load(dy + i, left);
      const Floats z = (load(x + i, left) - m) * r;
      const Floats g = d * load(w + i, left);
      direct += g;
      along += g * z;
      if (dw) store(dw + i, load(dw + i, left) + d * z, left);
      if (db) store(db + i, load(db + i, left) + d, left);
    }
    if (!dx) continue;
    const float mean_direct = sum_of(direct) / static_cast<float>(width);
    const float mean_along = sum_of(along) / static_cast<float>(width);
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const Floats g = load(dy + i, width - i) * load(w + i, width - i);
      const Floats z = (load(x + i, width - i) - m) * r;
      store(dx + i, (g - mean_direct - z * mean_along) * r, width - i);
    }
    dx += width;
  }
}

}  // namespace shardlab::SHARDLAB_ISA
