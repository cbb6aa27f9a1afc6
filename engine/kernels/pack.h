// Elements that travel together. A device's memory is fast only when each thread moves 16 bytes at a time;
// row functions take the number of elements as a template argument N, 1 when rows are not made of whole packs
// or not aligned to them.
#pragma once

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

inline constexpr int k_pack_bytes = 16;

// Most elements of a pack.
template <typename T>
inline constexpr int k_pack = k_pack_bytes / static_cast<int>(sizeof(T));

template <typename T, int N>
struct alignas(sizeof(T) * N < k_pack_bytes ? sizeof(T) * N : k_pack_bytes) Pack {
  T values[N];
};

// `from` and `to` are aligned to the pack, or to 16 bytes when it is longer. On a device 16 bytes are a
// vector of CUDA's: nvcc splits copies of other structures into their members, eight stores of two bytes.
template <int N, typename T>
SHARDLAB_HD Pack<T, N> load_pack(const T* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Pack<T, N>) % k_pack_bytes == 0) {
    Pack<T, N> pack;
    for (int i = 0; i < static_cast<int>(sizeof(pack)) / k_pack_bytes; ++i) {
      const uint4 words = reinterpret_cast<const uint4*>(from)[i];
      memcpy(reinterpret_cast<char*>(&pack) + i * k_pack_bytes, &words, sizeof(words));
    }
    return pack;
  }
#endif
  return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <int N, typename T>
SHARDLAB_HD void store_pack(T* to, const Pack<T, N>& pack) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Pack<T, N>) % k_pack_bytes == 0) {
    for (int i = 0; i < static_cast<int>(sizeof(pack)) / k_pack_bytes; ++i) {
      uint4 words;
      memcpy(&words, reinterpret_cast<const char*>(&pack) + i * k_pack_bytes, sizeof(words));
      __stwb(reinterpret_cast<uint4*>(to) + i, words);
    }
    return;
  }
#endif
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

template <typename T, int N>
SHARDLAB_HD Pack<float, N> to_floats(const Pack<T, N>& pack) {
  Pack<float, N> result;
  if constexpr (sizeof(T) == 2 && N % 2 == 0) {
    for (int j = 0; j < N; j += 2) {
      std::uint32_t pair;
      memcpy(&pair, &pack.values[j], sizeof(pair));
      result.values[j] = first_of_pair(pair);
      result.values[j + 1] = second_of_pair(pair);
    }
  } else {
    for (int j = 0; j < N; ++j) result.values[j] = to_float(pack.values[j]);
  }
  return result;
}

template <typename T, int N>
SHARDLAB_HD Pack<T, N> from_floats(const Pack<float, N>& pack) {
  Pack<T, N> result;
  if constexpr (sizeof(T) == 2 && N % 2 == 0) {
    for (int j = 0; j < N; j += 2) {
      const std::uint32_t pair = bfloat16_pair(pack.values[j], pack.values[j + 1]);
      memcpy(&result.values[j], &pair, sizeof(pair));
    }
  } else {
    for (int j = 0; j < N; ++j) result.values[j] = from_float<T>(pack.values[j]);
  }
  return result;
}

}  // namespace shardlab::kernels
