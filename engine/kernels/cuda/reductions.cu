// Cross-entropy a row a block; sums of squares and the clipping that reads them.
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"
#include "engine/kernels/squared_norm.h"

namespace shardlab::kernels {
namespace {

template <int N, typename T>
__global__ void cross_entropy(const T* logits, const std::int64_t* targets, std::int64_t rows,
                              std::int64_t classes, float scale, float* losses, float* sums, T* gradient) {
  BlockLanes lanes;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    T* of_row = gradient == nullptr ? nullptr : gradient + row * classes;
    float* sum = sums == nullptr ? nullptr : sums + row;
    cross_entropy_row<N>(lanes, logits + row * classes, targets[row], classes, scale, losses + row, sum,
                         of_row);
  }
}

template <int N, typename T>
__global__ void cross_entropy_backward(const T* logits, const std::int64_t* targets, const float* sums,
                                       std::int64_t rows, std::int64_t classes, float scale, T* gradient) {
  BlockLanes lanes;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t at = row * classes;
    cross_entropy_row_backward<N>(lanes, logits + at, targets[row], classes, sums[row], scale, gradient + at);
  }
}

constexpr std::int64_t k_values_of_block = 16384;

template <int N, typename T>
__global__ void add_squares(const T* values, std::int64_t count, float* sum) {
  BlockLanes lanes;
  for (std::int64_t begin = blockIdx.x * k_values_of_block; begin < count;
       begin += gridDim.x * k_values_of_block) {
    const std::int64_t left = count - begin;
    const float squares =
        sum_of_squares<N>(lanes, values + begin, left < k_values_of_block ? left : k_values_of_block);
    if (threadIdx.x == 0) atomicAdd(sum, squares);
  }
}

template <int N, typename T>
__global__ void clip(T* values, std::int64_t count, const float* sum, float limit) {
  const float factor = clip_factor(sqrtf(*sum), limit);
  for (std::int64_t i = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x * N) {
    Pack<T, N> pack = load_pack<N>(values + i);
    for (int j = 0; j < N; ++j) pack.values[j] = clipped(pack.values[j], factor);
    store_pack<N>(values + i, pack);
  }
}

}  // namespace

template <typename T>
void launch_cross_entropy(Stream stream, const T* logits, const std::int64_t* targets, std::int64_t rows,
                          std::int64_t classes, float scale, float* losses, float* sums, T* gradient) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    cross_entropy<decltype(n)::value><<<blocks_of(rows), k_threads, 0, stream>>>(
        logits, targets, rows, classes, scale, losses, sums, gradient);
  };
  with_pack<T>(classes, launch, logits, gradient);
}

template <typename T>
void launch_cross_entropy_backward(Stream stream, const T* logits, const std::int64_t* targets,
                                   const float* sums, std::int64_t rows, std::int64_t classes, float scale,
                                   T* gradient) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    cross_entropy_backward<decltype(n)::value>
        <<<blocks_of(rows), k_threads, 0, stream>>>(logits, targets, sums, rows, classes, scale, gradient);
  };
  with_pack<T>(classes, launch, logits, gradient);
}

template <typename T>
void launch_add_squares(Stream stream, const T* values, std::int64_t count, float* sum) {
  const std::int64_t blocks = (count + k_values_of_block - 1) / k_values_of_block;
  if (count == 0) return;
  const auto launch = [&](auto n) {
    add_squares<decltype(n)::value><<<blocks_of(blocks), k_threads, 0, stream>>>(values, count, sum);
  };
  with_pack<T>(count, launch, values);
}

template <typename T>
void launch_clip(Stream stream, T* values, std::int64_t count, const float* sum, float limit) {
  if (count == 0) return;
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    clip<N><<<element_blocks(count / N), k_threads, 0, stream>>>(values, count, sum, limit);
  };
  with_pack<T>(count, launch, values);
}

template void launch_cross_entropy(Stream, const float*, const std::int64_t*, std::int64_t, std::int64_t,
                                   float, float*, float*, float*);
template void launch_cross_entropy(Stream, const BFloat16*, const std::int64_t*, std::int64_t, std::int64_t,
                                   float, float*, float*, BFloat16*);
template void launch_cross_entropy_backward(Stream, const float*, const std::int64_t*, const float*,
                                            std::int64_t, std::int64_t, float, float*);
template void launch_cross_entropy_backward(Stream, const BFloat16*, const std::int64_t*, const float*,
                                            std::int64_t, std::int64_t, float, BFloat16*);
template void launch_add_squares(Stream, const float*, std::int64_t, float*);
template void launch_add_squares(Stream, const BFloat16*, std::int64_t, float*);
template void launch_clip(Stream, float*, std::int64_t, const float*, float);
template void launch_clip(Stream, BFloat16*, std::int64_t, const float*, float);

}  // namespace shardlab::kernels
