// Rotary embedding, a row a block; SwiGLU, copies between layouts, AdamW: one thread an element, in strides over the grid.
#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"
#include "engine/kernels/swiglu.h"

namespace shardlab::kernels {
namespace {

template <typename Body>
__global__ void for_elements(std::int64_t count, Body body) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += std::int64_t{gridDim.x} * blockDim.x) body(i);
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
template <typename T>
__global__ void rotate_rows(const T* x, T* y, const float* cosines, const float* sines, RotaryLayout layout, std::int64_t rows,
                            std::int64_t sequence, float direction) {
  const std::int64_t pieces = rotary_pieces(layout), width = layout.groups * (layout.turned + layout.passed) * layout.head_dim;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t position = row % sequence * layout.half;
    for (std::int64_t piece = threadIdx.x; piece < pieces; piece += blockDim.x)
      rotate_piece(layout, x + row * width, y + row * width, piece, cosines + position, sines + position, direction);
  }
}

// What each thread does. Types of their own: nvcc's device lambdas would need a flag of their own.
template <typename T>
struct Swiglu {
  const T *gate, *up;
  T* y;
  std::int64_t width, stride;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = place(i, width, stride);
    y[i] = swiglu(gate[at], up[at]);
  }
};

template <typename T>
struct SwigluBackward {
  const T *dy, *gate, *up;
  T *d_gate, *d_up;
  std::int64_t width, stride;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = place(i, width, stride);
    const SwigluGradients<T> gradients = swiglu_backward(dy[i], gate[at], up == nullptr ? T{} : up[at]);
    if (d_gate != nullptr) d_gate[at] = gradients.gate;
    if (d_up != nullptr) d_up[at] = gradients.up;
  }
};

template <typename To, typename From>
struct CopyElement {
  const CopyRange* ranges;
  const std::int64_t* ends;
  std::int64_t count;
  const From* source;
  To* destination;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t at = range_of(ends, count, i);
    copy_element(ranges[at], i - (at == 0 ? 0 : ends[at - 1]), source, destination);
  }
};

template <typename P, typename G>
struct AdamWElement {
  AdamW rule;
  P* parameters;
  const G* gradients;
  float *means, *squares;
  __device__ void operator()(std::int64_t i) const { adamw_element(rule, parameters[i], gradients[i], means[i], squares[i]); }
};

}  // namespace

template <typename T>
void launch_rotary(Stream stream, const T* x, T* y, const float* cosines, const float* sines, const RotaryLayout& layout,
                   std::int64_t rows, std::int64_t sequence, float direction) {
  if (rows > 0) rotate_rows<<<blocks_of(rows), k_threads, 0, stream>>>(x, y, cosines, sines, layout, rows, sequence, direction);
}

template <typename T>
void launch_swiglu(Stream stream, const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t width, std::int64_t stride) {
  launch_elements(stream, rows * width, Swiglu<T>{gate, up, y, width, stride});
}

template <typename T>
void launch_swiglu_backward(Stream stream, const T* dy, const T* gate, const T* up, T* d_gate, T* d_up, std::int64_t rows,
                            std::int64_t width, std::int64_t stride) {
  launch_elements(stream, rows * width, SwigluBackward<T>{dy, gate, up, d_gate, d_up, width, stride});
}

template <typename To, typename From>
void launch_copy_ranges(Stream stream, const CopyRange* ranges, const std::int64_t* ends, std::int64_t count, std::int64_t elements,
                        const From* source, To* destination) {
  launch_elements(stream, elements, CopyElement<To, From>{ranges, ends, count, source, destination});
}

template <typename P, typename G>
void launch_adamw(Stream stream, const AdamW& rule, P* parameters, const G* gradients, float* means, float* squares, std::int64_t count) {
  launch_elements(stream, count, AdamWElement<P, G>{rule, parameters, gradients, means, squares});
}

template void launch_rotary(Stream, const float*, float*, const float*, const float*, const RotaryLayout&, std::int64_t, std::int64_t,
                            float);
template void launch_rotary(Stream, const BFloat16*, BFloat16*, const float*, const float*, const RotaryLayout&, std::int64_t, std::int64_t,
                            float);
template void launch_swiglu(Stream, const float*, const float*, float*, std::int64_t, std::int64_t, std::int64_t);
template void launch_swiglu(Stream, const BFloat16*, const BFloat16*, BFloat16*, std::int64_t, std::int64_t, std::int64_t);
template void launch_swiglu_backward(Stream, const float*, const float*, const float*, float*, float*, std::int64_t, std::int64_t,
                                     std::int64_t);
template void launch_swiglu_backward(Stream, const BFloat16*, const BFloat16*, const BFloat16*, BFloat16*, BFloat16*, std::int64_t,
                                     std::int64_t, std::int64_t);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const float*, float*);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const float*, BFloat16*);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const BFloat16*, float*);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const BFloat16*, BFloat16*);
template void launch_adamw(Stream, const AdamW&, float*, const float*, float*, float*, std::int64_t);
template void launch_adamw(Stream, const AdamW&, float*, const BFloat16*, float*, float*, std::int64_t);
template void launch_adamw(Stream, const AdamW&, BFloat16*, const BFloat16*, float*, float*, std::int64_t);

}  // namespace shardlab::kernels
