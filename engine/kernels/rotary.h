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

// Turns N pairs of elements (a, b).
template <int N, typename T>
SHARDLAB_HD void rotate_pairs(Pack<T, N>& a, Pack<T, N>& b, const Pack<float, N>& cosine,
                              const Pack<float, N>& sine) {
  Pack<float, N> p = to_floats(a), q = to_floats(b);
  for (int j = 0; j < N; ++j) {
    const float first = p.values[j] * cosine.values[j] - q.values[j] * sine.values[j];
    q.values[j] = q.values[j] * cosine.values[j] + p.values[j] * sine.values[j];
    p.values[j] = first;
  }
  a = from_floats<T>(p);
  b = from_floats<T>(q);
}

// `direction` +1 in forward, -1 in backward: the gradient turns back.
template <int N>
SHARDLAB_HD Pack<float, N> directed(const float* sines, float direction) {
  Pack<float, N> result = load_pack<N>(sines);
  for (int j = 0; j < N; ++j) result.values[j] *= direction;
  return result;
}

// One piece of the row `x`; cosines and sines [half] are those of its position. `y` may be `x`. N
// divides half and head_dim.
template <int N = 1, typename T>
SHARDLAB_HD void rotate_piece(const RotaryLayout& layout, const T* x, T* y, std::int64_t piece,
                              const float* cosines, const float* sines, float direction) {
  const std::int64_t of_head = (layout.head_dim - layout.half) / N, head = piece / of_head,
                     i = piece % of_head * N;
  const std::int64_t first = head * layout.head_dim + i, second = first + layout.half;
  Pack<T, N> b = load_pack<N>(x + second);
  if (i < layout.half) {
    Pack<T, N> a = load_pack<N>(x + first);
    if (head % (layout.turned + layout.passed) < layout.turned)
      rotate_pairs(a, b, load_pack<N>(cosines + i), directed<N>(sines + i, direction));
    store_pack<N>(y + first, a);
  }
  store_pack<N>(y + second, b);
}

}  // namespace shardlab::kernels
