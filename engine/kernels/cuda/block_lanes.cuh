// The threads of a block as the lanes of a row, and grids over elements. Private to this folder.
#pragma once

#include <cuda_runtime.h>

#include "engine/kernels/lanes.h"
#include "engine/kernels/pack.h"

namespace shardlab::kernels {

inline constexpr int k_threads = 256;
inline constexpr std::int64_t k_most_blocks = 1 << 16;  // each goes on in strides

inline unsigned blocks_of(std::int64_t pieces) {
  return static_cast<unsigned>(pieces < k_most_blocks ? pieces : k_most_blocks);
}

// Rows in a grid's y, which is short: each goes on in strides.
inline unsigned grid_rows(std::int64_t rows) {
  constexpr std::int64_t k_most = 65535;
  return static_cast<unsigned>(rows < k_most ? rows : k_most);
}

// As many threads over columns as there are packs of them, rounded up to a power of two; the others go over
// rows.
inline dim3 threads_over(std::int64_t packs) {
  unsigned columns = 1;
  while (columns < packs && columns < k_threads) columns *= 2;
  return {columns, k_threads / columns};
}

// Calls launch(Pack size) with the widest pack that rows of `width` elements of T and all pointers allow:
// k_pack<T> or 1.
template <int N>
struct PackSize {
  static constexpr int value = N;
};
inline bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % k_pack_bytes == 0;
}

template <typename T, typename Launch, typename... Pointers>
void with_pack(std::int64_t width, Launch launch, Pointers... pointers) {
  if (width % k_pack<T> == 0 && (is_aligned(pointers) && ...)) {
    launch(PackSize<k_pack<T>>{});
  } else {
    launch(PackSize<1>{});
  }
}

// A warp as the lanes of a row: nobody waits for other warps. All its threads take part in every call.
class WarpLanes {
 public:
  __device__ std::int64_t lane() const { return threadIdx.x % 32; }
  __device__ std::int64_t count() const { return 32; }
  __device__ float sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffU, value, offset);
    return value;
  }
  __device__ float max(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
      value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
    return value;
  }

  // Rows of a block, the row of this thread among them.
  static constexpr std::int64_t k_rows = k_threads / 32;
  __device__ static std::int64_t row() { return threadIdx.x / 32; }
};

// Sums warps by shuffles and their results through shared memory. All threads of the block take part in every
// call.
class BlockLanes {
 public:
  __device__ std::int64_t lane() const { return threadIdx.x; }
  __device__ std::int64_t count() const { return blockDim.x; }
  __device__ float sum(float value) {
    return reduce(value, 0.0F, [](float a, float b) { return a + b; });
  }
  __device__ float max(float value) {
    return reduce(value, -INFINITY, [](float a, float b) { return a > b ? a : b; });
  }

  static constexpr std::int64_t k_rows = 1;
  __device__ static std::int64_t row() { return 0; }

 private:
  int call_ = 0;

  template <typename Combine>
  __device__ float reduce(float value, float neutral, Combine combine) {
    __shared__ float of_calls[2][32];
    float* of_warps = of_calls[call_];
    call_ ^= 1;  // nobody writes where another may still read: a call lies between
    for (int offset = 16; offset > 0; offset /= 2)
      value = combine(value, __shfl_xor_sync(0xffffffffU, value, offset));
    const unsigned warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    if (threadIdx.x % 32 == 0) of_warps[warp] = value;
    __syncthreads();
    float result = neutral;
    for (unsigned i = 0; i < warps; ++i) result = combine(result, of_warps[i]);
    return result;
  }
};

}  // namespace shardlab::kernels
