// Rotary embedding. A thread has the same pairs of a few heads that follow each other: it reads cosines and
// sines once for all of them, and asks for all heads before it turns the first. Heads in the grid's x, rows
// in y.
#include "engine/kernels/rotary.h"

#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"

namespace shardlab::kernels {
namespace {

constexpr int k_heads = 4;  // of a thread

// 64-bit remainders take a hundred instructions: only where 32 bits are too few.
__device__ std::int64_t remainder_of(std::int64_t value, std::int64_t divisor) {
  if (((value | divisor) >> 32) != 0) return value % divisor;
  return static_cast<std::uint32_t>(value) % static_cast<std::uint32_t>(divisor);
}

// Heads `begin` and on of one row, x and y at the first of them, of each the pairs i to i + N - 1 or, behind
// the pairs, as many elements to copy. What is not there to be read is read from a neighbour, so that no read
// waits for a branch.
template <int N, typename T>
__device__ void rotate_heads(const RotaryLayout& layout, const T* x, T* y, std::int64_t begin,
                             std::int64_t heads, std::int64_t i, const float* cosines, const float* sines,
                             float direction) {
  const bool in_pairs = i < layout.half;
  const std::int64_t first = in_pairs ? i : i + layout.half, second = i + layout.half;
  Pack<T, N> a[k_heads], b[k_heads];
#pragma unroll
  for (int k = 0; k < k_heads; ++k) {
    a[k] = load_pack<N>(x + first);
    b[k] = load_pack<N>(x + second);
    if (begin + k + 1 < heads) x += layout.head_dim;
  }
  const Pack<float, N> cosine = load_pack<N>(cosines + (in_pairs ? i : 0)),
                       sine = directed<N>(sines + (in_pairs ? i : 0), direction);
  const std::int64_t of_group = layout.turned + layout.passed;
  std::int64_t in_group = layout.passed == 0 ? 0 : remainder_of(begin, of_group);
#pragma unroll
  for (int k = 0; k < k_heads; ++k) {
    if (begin + k >= heads) break;
    if (in_pairs && (layout.passed == 0 || in_group < layout.turned)) {
      rotate_pairs(a[k], b[k], cosine, sine);
      store_pack<N>(y + first, a[k]);
      store_pack<N>(y + second, b[k]);
    } else {
      store_pack<N>(y + first, a[k]);  // of an element behind the pairs, the same one twice
      store_pack<N>(y + second, b[k]);
    }
    y += layout.head_dim;
    in_group = in_group + 1 == of_group ? 0 : in_group + 1;
  }
}

// Block: pieces of a head in x, rows in y. Three blocks to a multiprocessor leave registers for all the heads
// of a thread and keep 96 KiB on their way to it.
template <int N, typename T>
__global__ __launch_bounds__(k_threads, 3) void rotate(const T* x, T* y, const float* cosines,
                                                       const float* sines, RotaryLayout layout,
                                                       std::int64_t rows, std::int64_t sequence,
                                                       float direction) {
  const std::int64_t heads = layout.groups * (layout.turned + layout.passed), width = heads * layout.head_dim;
  const std::int64_t begin = std::int64_t{blockIdx.x} * k_heads;
  for (std::int64_t row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
       row += std::int64_t{gridDim.y} * blockDim.y) {
    const std::int64_t at = row * width + begin * layout.head_dim;
    const std::int64_t position = remainder_of(row, sequence) * layout.half;
    for (std::int64_t i = threadIdx.x * N; i < layout.head_dim - layout.half; i += blockDim.x * N)
      rotate_heads<N>(layout, x + at, y + at, begin, heads, i, cosines + position, sines + position,
                      direction);
  }
}

}  // namespace

template <typename T>
void launch_rotary(Stream stream, const T* x, T* y, const float* cosines, const float* sines,
                   const RotaryLayout& layout, std::int64_t rows, std::int64_t sequence, float direction) {
  const std::int64_t heads = layout.groups * (layout.turned + layout.passed);
  if (rows == 0 || heads == 0) return;
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    const dim3 block = threads_over((layout.head_dim - layout.half) / N);
    const dim3 grid(static_cast<unsigned>((heads + k_heads - 1) / k_heads),
                    grid_rows((rows + block.y - 1) / block.y));
    rotate<N><<<grid, block, 0, stream>>>(x, y, cosines, sines, layout, rows, sequence, direction);
  };
  with_pack<T>(layout.head_dim % k_pack<T> == 0 ? layout.half : 1, launch, x, y, cosines, sines);
}

template void launch_rotary(Stream, const float*, float*, const float*, const float*, const RotaryLayout&,
                            std::int64_t, std::int64_t, float);
template void launch_rotary(Stream, const BFloat16*, BFloat16*, const float*, const float*,
                            const RotaryLayout&, std::int64_t, std::int64_t, float);

}  // namespace shardlab::kernels
