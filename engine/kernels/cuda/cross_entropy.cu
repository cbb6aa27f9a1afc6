// Cross-entropy, a row a block.
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"

namespace shardlab::kernels {
namespace {

// A vocabulary is long and its rows are few: with small blocks a device would not be full.
constexpr int k_most_threads = 1024;

unsigned threads_for(std::int64_t packs) {
  return packs < 8 * k_most_threads ? k_threads : k_most_threads;
}

template <int N, typename T>
__global__ __launch_bounds__(k_most_threads) void cross_entropy(const T* logits, const std::int64_t* targets,
                                                                std::int64_t rows, std::int64_t classes,
                                                                float scale, float* losses, float* sums,
                                                                T* gradient) {
  BlockLanes lanes;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    T* of_row = gradient == nullptr ? nullptr : gradient + row * classes;
    float* sum = sums == nullptr ? nullptr : sums + row;
    cross_entropy_row<N>(lanes, logits + row * classes, targets[row], classes, scale, losses + row, sum,
                         of_row);
  }
}

template <int N, typename T>
__global__ __launch_bounds__(k_most_threads) void cross_entropy_backward(const T* logits,
                                                                         const std::int64_t* targets,
                                                                         const float* sums, std::int64_t rows,
                                                                         std::int64_t classes, float scale,
                                                                         T* gradient) {
  BlockLanes lanes;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t at = row * classes;
    cross_entropy_row_backward<N>(lanes, logits + at, targets[row], classes, sums[row], scale, gradient + at);
  }
}

}  // namespace

template <typename T>
void launch_cross_entropy(Stream stream, const T* logits, const std::int64_t* targets, std::int64_t rows,
                          std::int64_t classes, float scale, float* losses, float* sums, T* gradient) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    cross_entropy<N><<<blocks_of(rows), threads_for(classes / N), 0, stream>>>(logits, targets, rows, classes,
                                                                               scale, losses, sums, gradient);
  };
  with_pack<T>(classes, launch, logits, gradient);
}

template <typename T>
void launch_cross_entropy_backward(Stream stream, const T* logits, const std::int64_t* targets,
                                   const float* sums, std::int64_t rows, std::int64_t classes, float scale,
                                   T* gradient) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    cross_entropy_backward<N><<<blocks_of(rows), threads_for(classes / N), 0, stream>>>(
        logits, targets, sums, rows, classes, scale, gradient);
  };
  with_pack<T>(classes, launch, logits, gradient);
}

template void launch_cross_entropy(Stream, const float*, const std::int64_t*, std::int64_t, std::int64_t,
                                   float, float*, float*, float*);
template void launch_cross_entropy(Stream, const BFloat16*, const std::int64_t*, std::int64_t, std::int64_t,
                                   float, float*, float*, BFloat16*);
template void launch_cross_entropy_backward(Stream, const float*, const std::int64_t*, const float*,
                                            std::int64_t, std::int64_t, float, float*);
template void launch_cross_entropy_backward(Stream, const BFloat16*, const std::int64_t*, const float*,
                                            std::int64_t, std::int64_t, float, BFloat16*);

}  // namespace shardlab::kernels
