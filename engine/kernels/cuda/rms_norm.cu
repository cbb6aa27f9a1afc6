#include "engine/kernels/rms_norm.h"

#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"

namespace shardlab::kernels {
namespace {

constexpr std::int64_t k_rows_of_part = 128;

template <int N, typename T>
__global__ void forward(const T* x, const T* w, T* y, float* reciprocals, std::int64_t rows,
                        std::int64_t width, float epsilon, float offset) {
  BlockLanes lanes;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x)
    rms_norm_row<N>(lanes, x + row * width, w, y + row * width, reciprocals + row, width, epsilon, offset);
}

template <int N, typename T>
__global__ void backward(const T* dy, const T* x, const T* w, const float* reciprocals, T* dx,
                         std::int64_t rows, std::int64_t width, float offset) {
  BlockLanes lanes;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t at = row * width;
    rms_norm_row_backward<N>(lanes, dy + at, x + at, w, reciprocals[row], dx + at, width, offset);
  }
}

// Grid: N columns a thread in x, parts of rows in y.
template <int N, typename T>
__global__ void weight_gradient(const T* dy, const T* x, const float* reciprocals, float* dw,
                                std::int64_t rows, std::int64_t width) {
  const std::int64_t column = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * N;
  if (column >= width) return;
  const std::int64_t begin = blockIdx.y * k_rows_of_part;
  const std::int64_t end = begin + k_rows_of_part < rows ? begin + k_rows_of_part : rows;
  store_pack<N>(dw + blockIdx.y * width + column,
                rms_norm_weight_gradient<N>(dy, x, reciprocals, begin, end, column, width));
}

template <typename T>
__global__ void sum_parts(const float* parts, std::int64_t count, std::int64_t width, bool accumulate,
                          T* into) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < width;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    float sum = accumulate ? to_float(into[i]) : 0.0F;
    for (std::int64_t part = 0; part < count; ++part) sum += parts[part * width + i];
    into[i] = from_float<T>(sum);
  }
}

}  // namespace

std::int64_t rms_norm_parts(std::int64_t rows) {
  return (rows + k_rows_of_part - 1) / k_rows_of_part;
}

template <typename T>
void launch_rms_norm(Stream stream, const T* x, const T* w, T* y, float* reciprocals, std::int64_t rows,
                     std::int64_t width, float epsilon, float offset) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    forward<decltype(n)::value>
        <<<blocks_of(rows), k_threads, 0, stream>>>(x, w, y, reciprocals, rows, width, epsilon, offset);
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
      const std::int64_t columns = (width / N + k_threads - 1) / k_threads;
      const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(rms_norm_parts(rows)));
      weight_gradient<N><<<grid, k_threads, 0, stream>>>(dy, x, reciprocals, dw, rows, width);
    }
    if (dx != nullptr)
      backward<N><<<blocks_of(rows), k_threads, 0, stream>>>(dy, x, w, reciprocals, dx, rows, width, offset);
  };
  with_pack<T>(width, launch, dy, x, w, dx, dw);
}

template <typename T>
void launch_sum_parts(Stream stream, const float* parts, std::int64_t count, std::int64_t width,
                      bool accumulate, T* into) {
  if (width > 0)
    sum_parts<<<element_blocks(width), k_threads, 0, stream>>>(parts, count, width, accumulate, into);
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
