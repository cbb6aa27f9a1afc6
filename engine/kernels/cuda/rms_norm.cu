#include "engine/kernels/rms_norm.h"

#include <type_traits>

#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"

namespace shardlab::kernels {
namespace {

// Parts of rows whose sums are added up in the end: short enough for the grid to fill a device, and few
// enough for their sums to be small.
constexpr std::int64_t k_shortest_part = 128, k_most_parts = 1024;

std::int64_t rows_of_part(std::int64_t rows) {
  const std::int64_t shared = (rows + k_most_parts - 1) / k_most_parts;
  return shared > k_shortest_part ? shared : k_shortest_part;
}

// A row narrower than this is a warp's: a block would wait more than it works.
constexpr std::int64_t k_narrow = 1024;

// Packs of a row that a lane keeps in registers, and the threads of the widest row that fits so. Few threads
// with several packs each ask for more bytes at once than many threads with one, and wait for fewer others.
constexpr int k_held = 4;
constexpr std::int64_t k_most_threads = 512;

template <int N, bool Held, typename Lanes, typename T>
__global__ __launch_bounds__(k_most_threads) void forward(const T* x, const T* w, T* y, float* reciprocals,
                                                          std::int64_t rows, std::int64_t width,
                                                          float epsilon, float offset) {
  Lanes lanes;
  for (std::int64_t row = blockIdx.x * Lanes::k_rows + Lanes::row(); row < rows;
       row += gridDim.x * Lanes::k_rows) {
    const T* from = x + row * width;
    T* to = y + row * width;
    if constexpr (Held)
      rms_norm_held_row<N, k_held>(lanes, from, w, to, reciprocals + row, width, epsilon, offset);
    else
      rms_norm_row<N>(lanes, from, w, to, reciprocals + row, width, epsilon, offset);
  }
}

template <int N, typename Lanes, typename T>
__global__ void backward(const T* dy, const T* x, const T* w, const float* reciprocals, T* dx,
                         std::int64_t rows, std::int64_t width, float offset) {
  Lanes lanes;
  for (std::int64_t row = blockIdx.x * Lanes::k_rows + Lanes::row(); row < rows;
       row += gridDim.x * Lanes::k_rows) {
    const std::int64_t at = row * width;
    rms_norm_row_backward<N>(lanes, dy + at, x + at, w, reciprocals[row], dx + at, width, offset);
  }
}

// Block: threads over columns in x, N each, over rows in y. Grid: for each part of rows as many blocks as the
// columns need, in x, which alone is long enough for any number of parts.
template <int N, typename T>
__global__ void weight_gradient(const T* dy, const T* x, const float* reciprocals, float* dw,
                                std::int64_t rows, std::int64_t part_rows, std::int64_t width) {
  const std::int64_t blocks_of_columns = (width / N + blockDim.x - 1) / blockDim.x;
  const std::int64_t part = blockIdx.x / blocks_of_columns;
  const std::int64_t column = (blockIdx.x % blocks_of_columns * blockDim.x + threadIdx.x) * N;
  const std::int64_t begin = part * part_rows;
  const std::int64_t end = begin + part_rows < rows ? begin + part_rows : rows;
  __shared__ Pack<float, N> of_rows[k_threads];
  Pack<float, N> sums{};
  if (column < width)
    sums =
        rms_norm_weight_gradient<N>(dy, x, reciprocals, begin + threadIdx.y, end, column, width, blockDim.y);
  of_rows[threadIdx.y * blockDim.x + threadIdx.x] = sums;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
  for (unsigned y = 1; y < blockDim.y; ++y) {
    for (int j = 0; j < N; ++j) sums.values[j] += of_rows[y * blockDim.x + threadIdx.x].values[j];
  }
  store_pack<N>(dw + part * width + column, sums);
}

// Block: 32 columns in x, parts in y.
template <typename T>
__global__ void sum_parts(const float* parts, std::int64_t count, std::int64_t width, bool accumulate,
                          T* into) {
  __shared__ float of_parts[k_threads / 32][32];
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  float sum = 0;
  if (column < width) {
    for (std::int64_t part = threadIdx.y; part < count; part += blockDim.y)
      sum += parts[part * width + column];
  }
  of_parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= width) return;
  for (unsigned y = 1; y < blockDim.y; ++y) sum += of_parts[y][threadIdx.x];
  into[column] = from_float<T>(accumulate ? to_float(into[column]) + sum : sum);
}

// Calls launch(Lanes{}, blocks) for rows of this width.
template <typename Launch>
void with_lanes(std::int64_t rows, std::int64_t width, Launch launch) {
  if (width <= k_narrow) {
    launch(WarpLanes{}, blocks_of((rows + WarpLanes::k_rows - 1) / WarpLanes::k_rows));
  } else {
    launch(BlockLanes{}, blocks_of(rows));
  }
}

// Threads of a block whose lanes hold rows of this many packs: whole warps; more than any block has when a
// warp would have to hold too many.
template <typename Lanes>
std::int64_t threads_that_hold(std::int64_t packs) {
  const std::int64_t warps = (packs + 32 * k_held - 1) / (32 * k_held);
  if constexpr (std::is_same_v<Lanes, WarpLanes>) return warps == 1 ? k_threads : k_most_threads + 1;
  return warps * 32;
}

}  // namespace

std::int64_t rms_norm_parts(std::int64_t rows) {
  const std::int64_t of_part = rows_of_part(rows);
  return (rows + of_part - 1) / of_part;
}

template <typename T>
void launch_rms_norm(Stream stream, const T* x, const T* w, T* y, float* reciprocals, std::int64_t rows,
                     std::int64_t width, float epsilon, float offset) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    with_lanes(rows, width, [&](auto lanes, unsigned blocks) {
      using Lanes = decltype(lanes);
      if constexpr (N > 1) {
        const std::int64_t threads = threads_that_hold<Lanes>(width / N);
        if (threads <= k_most_threads) {
          forward<N, true, Lanes><<<blocks, static_cast<unsigned>(threads), 0, stream>>>(
              x, w, y, reciprocals, rows, width, epsilon, offset);
          return;
        }
      }
      forward<N, false, Lanes>
          <<<blocks, k_threads, 0, stream>>>(x, w, y, reciprocals, rows, width, epsilon, offset);
    });
  };
  with_pack<T>(width, launch, x, w, y);
}

template <typename T>
void launch_rms_norm_backward(Stream stream, const T* dy, const T* x, const T* w, const float* reciprocals,
                              T* dx, float* dw, std::int64_t rows, std::int64_t width, float offset) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    if (dw != nullptr) {  // before dx, which may lie over dy
      const dim3 threads = threads_over(width / N);
      const std::int64_t blocks = (width / N + threads.x - 1) / threads.x * rms_norm_parts(rows);
      weight_gradient<N><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(dy, x, reciprocals, dw, rows,
                                                                                rows_of_part(rows), width);
    }
    if (dx == nullptr) return;
    with_lanes(rows, width, [&](auto lanes, unsigned blocks) {
      backward<N, decltype(lanes)>
          <<<blocks, k_threads, 0, stream>>>(dy, x, w, reciprocals, dx, rows, width, offset);
    });
  };
  with_pack<T>(width, launch, dy, x, w, dx, dw);
}

template <typename T>
void launch_sum_parts(Stream stream, const float* parts, std::int64_t count, std::int64_t width,
                      bool accumulate, T* into) {
  if (width == 0) return;
  const auto blocks = static_cast<unsigned>((width + 31) / 32);
  sum_parts<<<blocks, dim3(32, k_threads / 32), 0, stream>>>(parts, count, width, accumulate, into);
}

template void launch_rms_norm(Stream, const float*, const float*, float*, float*, std::int64_t, std::int64_t,
                              float, float);
template void launch_rms_norm(Stream, const BFloat16*, const BFloat16*, BFloat16*, float*, std::int64_t,
                              std::int64_t, float, float);
template void launch_rms_norm_backward(Stream, const float*, const float*, const float*, const float*, float*,
                                       float*, std::int64_t, std::int64_t, float);
template void launch_rms_norm_backward(Stream, const BFloat16*, const BFloat16*, const BFloat16*,
                                       const float*, BFloat16*, float*, std::int64_t, std::int64_t, float);
template void launch_sum_parts(Stream, const float*, std::int64_t, std::int64_t, bool, float*);
template void launch_sum_parts(Stream, const float*, std::int64_t, std::int64_t, bool, BFloat16*);

}  // namespace shardlab::kernels
