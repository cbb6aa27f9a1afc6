// Rotary position embedding in the half-split form of transformers' apply_rotary_pos_emb: element i of a head turns with element
// i + half.
#pragma once

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

// The heads of a row in groups: of each group the first `turned` are turned, the next `passed` copied. Of a head that is turned the
// first 2 * half elements are, the rest is copied.
struct RotaryLayout {
  std::int64_t groups = 1, turned = 1, passed = 0, head_dim = 0, half = 0;
};

// Pieces of work in a row: a pair of elements, or one that is copied.
SHARDLAB_HD std::int64_t rotary_pieces(const RotaryLayout& layout) {
  return layout.groups * (layout.turned + layout.passed) * (layout.head_dim - layout.half);
}

// One piece of the row `x`; cosines and sines [half] are those of its position. `direction` +1 in forward, -1 in backward: the
// gradient turns back. `y` may be `x`.
template <typename T>
SHARDLAB_HD void rotate_piece(const RotaryLayout& layout, const T* x, T* y, std::int64_t piece, const float* cosines, const float* sines,
                              float direction) {
  const std::int64_t of_head = layout.head_dim - layout.half, head = piece / of_head, i = piece % of_head;
  const std::int64_t first = head * layout.head_dim + i, second = first + layout.half;
  if (i >= layout.half) {
    y[second] = x[second];
  } else if (head % (layout.turned + layout.passed) >= layout.turned) {
    y[first] = x[first];
    y[second] = x[second];
  } else {
    const float a = to_float(x[first]), b = to_float(x[second]), s = direction * sines[i];
    y[first] = from_float<T>(a * cosines[i] - b * s);
    y[second] = from_float<T>(b * cosines[i] + a * s);
  }
}

}  // namespace shardlab::kernels
