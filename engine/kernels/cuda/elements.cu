// Rotary embedding, a row a block; SwiGLU: one thread a pack of elements, in strides over the grid.
#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"
#include "engine/kernels/swiglu.h"

namespace shardlab::kernels {
namespace {

template <typename Body>
__global__ void for_elements(std::int64_t count, Body body) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x)
    body(i);
}

template <typename Body>
void launch_elements(Stream stream, std::int64_t count, Body body) {
  if (count > 0) for_elements<<<element_blocks(count), k_threads, 0, stream>>>(count, body);
}

// Where element `i` of rows without gaps lies when rows are `stride` apart.
__device__ std::int64_t place(std::int64_t i, std::int64_t width, std::int64_t stride) {
  return width == stride ? i : i / width * stride + i % width;
}

// A row a block.
template <int N, typename T>
__global__ void rotate_rows(const T* x, T* y, const float* cosines, const float* sines, RotaryLayout layout,
                            std::int64_t rows, std::int64_t sequence, float direction) {
  const std::int64_t pieces = rotary_pieces<N>(layout),
                     width = layout.groups * (layout.turned + layout.passed) * layout.head_dim;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t position = row % sequence * layout.half;
    for (std::int64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x)
      rotate_piece<N>(layout, x + row * width, y + row * width, piece, cosines + position, sines + position,
                      direction);
  }
}

// What each thread does. Types of their own: nvcc's device lambdas would need a flag of their own.
template <int N, typename T>
struct Swiglu {
  const T *gate, *up;
  T* y;
  std::int64_t width, stride;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = place(i * N, width, stride);
    const Pack<T, N> g = load_pack<N>(gate + at), u = load_pack<N>(up + at);
    Pack<T, N> out;
    for (int j = 0; j < N; ++j) out.values[j] = swiglu(g.values[j], u.values[j]);
    store_pack<N>(y + i * N, out);
  }
};

template <int N, typename T>
struct SwigluBackward {
  const T *dy, *gate, *up;
  T *d_gate, *d_up;
  std::int64_t width, stride;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = place(i * N, width, stride);
    const Pack<T, N> d = load_pack<N>(dy + i * N), g = load_pack<N>(gate + at);
    const Pack<T, N> u = up == nullptr ? Pack<T, N>{} : load_pack<N>(up + at);
    Pack<T, N> of_gate, of_up;
    for (int j = 0; j < N; ++j) {
      const SwigluGradients<T> gradients = swiglu_backward(d.values[j], g.values[j], u.values[j]);
      of_gate.values[j] = gradients.gate;
      of_up.values[j] = gradients.up;
    }
    if (d_gate != nullptr) store_pack<N>(d_gate + at, of_gate);
    if (d_up != nullptr) store_pack<N>(d_up + at, of_up);
  }
};

}  // namespace

template <typename T>
void launch_rotary(Stream stream, const T* x, T* y, const float* cosines, const float* sines,
                   const RotaryLayout& layout, std::int64_t rows, std::int64_t sequence, float direction) {
  if (rows == 0) return;
  const auto launch = [&](auto n) {
    rotate_rows<decltype(n)::value>
        <<<blocks_of(rows), k_threads, 0, stream>>>(x, y, cosines, sines, layout, rows, sequence, direction);
  };
  with_pack<T>(layout.head_dim % k_pack<T> == 0 ? layout.half : 1, launch, x, y, cosines, sines);
}

template <typename T>
void launch_swiglu(Stream stream, const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t width,
                   std::int64_t stride) {
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    launch_elements(stream, rows * width / N, Swiglu<N, T>{gate, up, y, width, stride});
  };
  with_pack<T>(width, launch, gate, up, y);
}

template <typename T>
void launch_swiglu_backward(Stream stream, const T* dy, const T* gate, const T* up, T* d_gate, T* d_up,
                            std::int64_t rows, std::int64_t width, std::int64_t stride) {
  const auto launch = [&](auto n) {
    constexpr int N = decltype(n)::value;
    launch_elements(stream, rows * width / N,
                    SwigluBackward<N, T>{dy, gate, up, d_gate, d_up, width, stride});
  };
  with_pack<T>(width, launch, dy, gate, up, d_gate, d_up);
}

template void launch_rotary(Stream, const float*, float*, const float*, const float*, const RotaryLayout&,
                            std::int64_t, std::int64_t, float);
template void launch_rotary(Stream, const BFloat16*, BFloat16*, const float*, const float*,
                            const RotaryLayout&, std::int64_t, std::int64_t, float);
template void launch_swiglu(Stream, const float*, const float*, float*, std::int64_t, std::int64_t,
                            std::int64_t);
template void launch_swiglu(Stream, const BFloat16*, const BFloat16*, BFloat16*, std::int64_t, std::int64_t,
                            std::int64_t);
template void launch_swiglu_backward(Stream, const float*, const float*, const float*, float*, float*,
                                     std::int64_t, std::int64_t, std::int64_t);
template void launch_swiglu_backward(Stream, const BFloat16*, const BFloat16*, const BFloat16*, BFloat16*,
                                     BFloat16*, std::int64_t, std::int64_t, std::int64_t);

}  // namespace shardlab::kernels
