// Norm, rotary embedding, gated activation, sums of rows. Private to isa_*.cpp.
#pragma once

#include <cstddef>

#include "engine/execute/torch/kernels/body/vector.h"

namespace shardlab::SHARDLAB_ISA {

template <typename T>
void rms_norm_forward(const T* x, const T* w, float offset, float epsilon, std::int64_t rows,
                      std::int64_t width, T* y, float* reciprocal) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, y += width) {
    Floats squares{};
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const Floats value = load(x + i, width - i);
      squares += value * value;
    }
    const float r = 1.0f / __builtin_sqrtf(sum_of(squares) / static_cast<float>(width) + epsilon);
    reciprocal[row] = r;
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      store(y + i, load(x + i, width - i) * r * (load(w + i, width - i) + offset), width - i);
    }
  }
}

// With n = width, w the weight and its offset together, and s = sum(dy w x): dx = r (dy w - x r^2 s / n), dw
// = sum over rows of dy x r.
template <typename T>
void rms_norm_backward(const T* dy, const T* x, const T* w, float offset, const float* reciprocal,
                       std::int64_t rows, std::int64_t width, T* dx, float* dw) {
  for (std::int64_t row = 0; row < rows; ++row, dy += width, x += width) {
    const float r = reciprocal[row];
    Floats products{};
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const Floats slope = load(dy + i, width - i) * load(x + i, width - i);
      products += slope * (load(w + i, width - i) + offset);
      if (dw) store(dw + i, load(dw + i, width - i) + slope * r, width - i);
    }
    if (!dx) continue;
    const float mean = sum_of(products) * r * r / static_cast<float>(width);
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      const Floats direct = load(dy + i, width - i) * (load(w + i, width - i) + offset);
      store(dx + i, (direct - load(x + i, width - i) * mean) * r, width - i);
    }
    dx += width;
  }
}

template <typename T>
SHARDLAB_INLINE void copy_elements(const T* from, std::int64_t count, T* to) {
  __builtin_memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
}

template <typename T>
SHARDLAB_INLINE void turn_head(const T* x, const float* cosine, const float* sine, const HeadLayout& layout,
                               float direction, T* y) {
  const std::int64_t half = layout.half;
  for (std::int64_t i = 0; i < half; i += k_lanes) {
    const std::int64_t left = half - i;
    const Floats a = load(x + i, left);
    const Floats b = load(x + half + i, left);
    const Floats turn = load(sine + i, left) * direction;
    const Floats keep = load(cosine + i, left);
    store(y + i, a * keep - b * turn, left);
    store(y + half + i, b * keep + a * turn, left);
  }
  copy_elements(x + 2 * half, layout.head_dim - 2 * half, y + 2 * half);
}

template <typename T>
void rope(const T* x, const float* cosine, const float* sine, std::int64_t first_row, std::int64_t rows,
          std::int64_t positions, const HeadLayout& layout, float direction, T* y) {
  const std::int64_t dim = layout.head_dim, passed = layout.passed * dim;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = (first_row + row) % positions * layout.half;
    for (std::int64_t group = 0; group < layout.groups; ++group, x += passed, y += passed) {
      for (std::int64_t head = 0; head < layout.turned; ++head, x += dim, y += dim)
        turn_head(x, cosine + at, sine + at, layout, direction, y);
      copy_elements(x, passed, y);
    }
  }
}

template <typename T>
void swiglu_forward(const T* gate, const T* up, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const Floats g = load(gate + i, count - i);
    store(y + i, g * sigmoid(g) * load(up + i, count - i), count - i);
  }
}

// silu'(g) = s (1 + g (1 - s)), s = sigmoid(g).
template <typename T>
void swiglu_backward(const T* dy, const T* gate, const T* up, std::int64_t count, T* dgate, T* dup) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const std::int64_t left = count - i;
    const Floats g = load(gate + i, left);
    const Floats d = load(dy + i, left);
    const Floats s = sigmoid(g);
    if (dgate) store(dgate + i, d * load(up + i, left) * (s + g * s * (1.0f - s)), left);
    if (dup) store(dup + i, d * (g * s), left);
  }
}

template <typename T>
void add_row(const T* row, std::int64_t width, float* sums) {
  for (std::int64_t i = 0; i < width; i += k_lanes)
    store(sums + i, load(sums + i, width - i) + load(row + i, width - i), width - i);
}

template <typename T>
void add_scaled_row(float factor, const T* row, std::int64_t width, float* sums) {
  for (std::int64_t i = 0; i < width; i += k_lanes)
    store(sums + i, load(sums + i, width - i) + factor * load(row + i, width - i), width - i);
}

template <typename T>
void store_row(const float* sums, bool accumulate, std::int64_t width, T* row) {
  for (std::int64_t i = 0; i < width; i += k_lanes) {
    const Floats sum = load(sums + i, width - i);
    store(row + i, accumulate ? load(row + i, width - i) + sum : sum, width - i);
  }
}

}  // namespace shardlab::SHARDLAB_ISA
