// Elements that travel together. A device's memory is fast only when each thread moves 16 bytes at a time;
// row functions take the number of elements as a template argument N, 1 when rows are not made of whole packs
// or not aligned to them.
#pragma once

#include "engine/kernels/host_device.h"

namespace shardlab::kernels {

inline constexpr int k_pack_bytes = 16;

// Most elements of a pack.
template <typename T>
inline constexpr int k_pack = k_pack_bytes / static_cast<int>(sizeof(T));

template <typename T, int N>
struct alignas(sizeof(T) * N < k_pack_bytes ? sizeof(T) * N : k_pack_bytes) Pack {
  T values[N];
};

// `from` and `to` are aligned to the pack, or to 16 bytes when it is longer.
template <int N, typename T>
SHARDLAB_HD Pack<T, N> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <int N, typename T>
SHARDLAB_HD void store_pack(T* to, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

}  // namespace shardlab::kernels
