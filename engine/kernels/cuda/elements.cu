// Rotary embedding, SwiGLU, copies between layouts, AdamW: one thread an element (or a pair), in strides over the grid.
#include "engine/kernels/cuda/block_lanes.cuh"
#include "engine/kernels/cuda/launches.h"
#include "engine/kernels/rotary.h"
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

// What each thread does. Types of their own: nvcc's device lambdas would need a flag of their own.
template <typename T>
struct RotatePair {
  T* x;
  const float *cosines, *sines;
  std::int64_t sequence, heads, half;
  float direction;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t pair = i % half, head = i / half, position = head / heads % sequence;
    const std::int64_t entry = position * half + pair;
    rotate_pair(x + head * 2 * half, pair, half, cosines[entry], sines[entry], direction);
  }
};

template <typename T>
struct Swiglu {
  const T *gate, *up;
  T* y;
  __device__ void operator()(std::int64_t i) const { y[i] = swiglu(gate[i], up[i]); }
};

template <typename T>
struct SwigluBackward {
  const T *dy, *gate, *up;
  T *d_gate, *d_up;
  __device__ void operator()(std::int64_t i) const {
    const SwigluGradients<T> gradients = swiglu_backward(dy[i], gate[i], up[i]);
    d_gate[i] = gradients.gate;
    d_up[i] = gradients.up;
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
void launch_rotary(Stream stream, T* x, const float* cosines, const float* sines, std::int64_t batch, std::int64_t sequence,
                   std::int64_t heads, std::int64_t head_dim, float direction) {
  launch_elements(stream, batch * sequence * heads * (head_dim / 2),
                  RotatePair<T>{x, cosines, sines, sequence, heads, head_dim / 2, direction});
}

template <typename T>
void launch_swiglu(Stream stream, const T* gate, const T* up, T* y, std::int64_t count) {
  launch_elements(stream, count, Swiglu<T>{gate, up, y});
}

template <typename T>
void launch_swiglu_backward(Stream stream, const T* dy, const T* gate, const T* up, T* d_gate, T* d_up, std::int64_t count) {
  launch_elements(stream, count, SwigluBackward<T>{dy, gate, up, d_gate, d_up});
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

template void launch_rotary(Stream, float*, const float*, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float);
template void launch_rotary(Stream, BFloat16*, const float*, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float);
template void launch_swiglu(Stream, const float*, const float*, float*, std::int64_t);
template void launch_swiglu(Stream, const BFloat16*, const BFloat16*, BFloat16*, std::int64_t);
template void launch_swiglu_backward(Stream, const float*, const float*, const float*, float*, float*, std::int64_t);
template void launch_swiglu_backward(Stream, const BFloat16*, const BFloat16*, const BFloat16*, BFloat16*, BFloat16*, std::int64_t);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const float*, float*);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const float*, BFloat16*);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const BFloat16*, float*);
template void launch_copy_ranges(Stream, const CopyRange*, const std::int64_t*, std::int64_t, std::int64_t, const BFloat16*, BFloat16*);
template void launch_adamw(Stream, const AdamW&, float*, const float*, float*, float*, std::int64_t);
template void launch_adamw(Stream, const AdamW&, float*, const BFloat16*, float*, float*, std::int64_t);
template void launch_adamw(Stream, const AdamW&, BFloat16*, const BFloat16*, float*, float*, std::int64_t);

}  // namespace shardlab::kernels
