// SwiGLU. Rows in y, tiles of columns in x: no thread divides to find its place. Each thread asks for a few
// packs before it computes the first.
#include "engine/kernels/swiglu.h"

#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"

namespace shardlab::kernels {
namespace {

constexpr int k_packs = 2;  // of a thread, a block's threads apart

// Column of pack k of this thread.
template <int N>
__device__ std::int64_t column(int k) {
  return ((std::int64_t{blockIdx.x} * k_packs + k) * k_threads + threadIdx.x) * N;
}

// The same, or the row's last pack for threads beyond it: no read waits for a branch.
template <int N>
__device__ std::int64_t readable(int k, std::int64_t width) {
  return column<N>(k) < width ? column<N>(k) : width - N;
}

template <int N, typename T>
__global__ __launch_bounds__(k_threads) void forward(const T* gate, const T* up, T* y, std::int64_t rows,
                                                     std::int64_t width, std::int64_t stride) {
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    Pack<T, N> g[k_packs], u[k_packs];
#pragma unroll
    for (int k = 0; k < k_packs; ++k) {
      const std::int64_t at = row * stride + readable<N>(k, width);
      g[k] = load_pack<N>(gate + at);
      u[k] = load_pack<N>(up + at);
    }
#pragma unroll
    for (int k = 0; k < k_packs; ++k) {
      if (column<N>(k) < width) store_pack<N>(y + row * width + column<N>(k), swiglu(g[k], u[k]));
    }
  }
}

// Without `up` any values do in its place: only the gradient of the gate depends on them, which is not
// wanted.
template <int N, typename T>
__global__ __launch_bounds__(k_threads) void backward(const T* dy, const T* gate, const T* up, T* d_gate,
                                                      T* d_up, std::int64_t rows, std::int64_t width,
                                                      std::int64_t stride) {
  const T* other = up == nullptr ? gate : up;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    Pack<T, N> d[k_packs], g[k_packs], u[k_packs];
#pragma unroll
    for (int k = 0; k < k_packs; ++k) {
      const std::int64_t at = readable<N>(k, width);
      d[k] = load_pack<N>(dy + row * width + at);
      g[k] = load_pack<N>(gate + row * stride + at);
      u[k] = load_pack<N>(other + row * stride + at);
    }
#pragma unroll
    for (int k = 0; k < k_packs; ++k) {
      if (column<N>(k) >= width) continue;
      const SwigluGradients<Pack<T, N>> gradients = swiglu_backward(d[k], g[k], u[k]);
      if (d_gate != nullptr) store_pack<N>(d_gate + row * stride + column<N>(k), gradients.gate);
      if (d_up != nullptr) store_pack<N>(d_up + row * stride + column<N>(k), gradients.up);
    }
  }
}

// Calls launch(pack size, grid, rows, width) with rows that lie one behind the other taken as one long row.
template <typename T, typename Launch, typename... Pointers>
void with_grid(std::int64_t rows, std::int64_t width, std::int64_t stride, Launch launch,
               Pointers... pointers) {
  if (rows == 0 || width == 0) return;
  const auto of_size = [&](auto n) {
    constexpr std::int64_t k_tile = std::int64_t{decltype(n)::value} * k_packs * k_threads;
    const bool joined = width == stride;
    const std::int64_t count = joined ? 1 : rows, length = joined ? rows * width : width;
    const dim3 grid(static_cast<unsigned>((length + k_tile - 1) / k_tile), grid_rows(count));
    launch(n, grid, count, length);
  };
  with_pack<T>(width, of_size, pointers...);
}

}  // namespace

template <typename T>
void launch_swiglu(Stream stream, const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t width,
                   std::int64_t stride) {
  const auto launch = [&](auto n, dim3 grid, std::int64_t count, std::int64_t length) {
    forward<decltype(n)::value><<<grid, k_threads, 0, stream>>>(gate, up, y, count, length, stride);
  };
  with_grid<T>(rows, width, stride, launch, gate, up, y);
}

template <typename T>
void launch_swiglu_backward(Stream stream, const T* dy, const T* gate, const T* up, T* d_gate, T* d_up,
                            std::int64_t rows, std::int64_t width, std::int64_t stride) {
  const auto launch = [&](auto n, dim3 grid, std::int64_t count, std::int64_t length) {
    backward<decltype(n)::value>
        <<<grid, k_threads, 0, stream>>>(dy, gate, up, d_gate, d_up, count, length, stride);
  };
  with_grid<T>(rows, width, stride, launch, dy, gate, up, d_gate, d_up);
}

template void launch_swiglu(Stream, const float*, const float*, float*, std::int64_t, std::int64_t,
                            std::int64_t);
template void launch_swiglu(Stream, const BFloat16*, const BFloat16*, BFloat16*, std::int64_t, std::int64_t,
                            std::int64_t);
template void launch_swiglu_backward(Stream, const float*, const float*, const float*, float*, float*,
                                     std::int64_t, std::int64_t, std::int64_t);
template void launch_swiglu_backward(Stream, const BFloat16*, const BFloat16*, const BFloat16*, BFloat16*,
                                     BFloat16*, std::int64_t, std::int64_t, std::int64_t);

}  // namespace shardlab::kernels
