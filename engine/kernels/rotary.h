// Rotary position embedding in the half-split form of transformers' apply_rotary_pos_emb: element i of a head
// turns with element i + half.
#pragma once

#include "engine/kernels/bfloat16.h"
#include "engine/kernels/pack.h"

namespace shardlab::kernels {

// The heads of a row in groups: of each group the first `turned` are turned, the next `passed` copied. Of a
// head that is turned the first 2 * half elements are, the rest is copied.
struct RotaryLayout {
  std::int64_t groups = 1, turned = 1, passed = 0, head_dim = 0, half = 0;
};

// Pieces of work in a row: N pairs of elements that are turned together, or that many elements to copy.
template <int N = 1>
SHARDLAB_HD std::int64_t rotary_pieces(const RotaryLayout& layout) {
  return layout.groups * (layout.turned + layout.passed) * (layout.head_dim - layout.half) / N;
}

// One piece of the row `x`; cosines and sines [half] are those of its position. `direction` +1 in forward, -1
// in backward: the gradient turns back. `y` may be `x`. N divides half and head_dim.
template <int N = 1, typename T>
SHARDLAB_HD void rotate_piece(const RotaryLayout& layout, const T* x, T* y, std::int64_t piece,
                              const float* cosines, const float* sines, float direction) {
  const std::int64_t of_head = (layout.head_dim - layout.half) / N, head = piece / of_head,
                     i = piece % of_head * N;
  const std::int64_t first = head * layout.head_dim + i, second = first + layout.half;
  Pack<T, N> b = load_pack<N>(x + second);
  if (i < layout.half) {
    Pack<T, N> a = load_pack<N>(x + first);
    if (head % (layout.turned + layout.passed) < layout.turned) {
      const Pack<float, N> cosine = load_pack<N>(cosines + i), sine = load_pack<N>(sines + i);
      for (int j = 0; j < N; ++j) {
        const float p = to_float(a.values[j]), q = to_float(b.values[j]), c = cosine.values[j],
                    s = direction * sine.values[j];
        a.values[j] = from_float<T>(p * c - q * s);
        b.values[j] = from_float<T>(q * c + p * s);
      }
    }
    store_pack<N>(y + first, a);
  }
  store_pack<N>(y + second, b);
}

}  // namespace shardlab::kernels
