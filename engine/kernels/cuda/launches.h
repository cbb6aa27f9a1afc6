// Launches of the kernels on a stream. Plain C++: whoever calls needs no CUDA header.
//
// T is float or BFloat16. Pointers are device memory, contiguous, row-major; sizes count elements. Launches
// return at once; what goes wrong on the device shows at the stream's next synchronisation. An empty launch
// does nothing.
#pragma once

#include <cstdint>

#include "engine/kernels/bfloat16.h"
#include "engine/kernels/rotary.h"

struct CUstream_st;

namespace shardlab::kernels {

using Stream = CUstream_st*;

// x, y [rows, width]; w [width]; reciprocals [rows]. `offset` is added to w.
template <typename T>
void launch_rms_norm(Stream stream, const T* x, const T* w, T* y, float* reciprocals, std::int64_t rows,
                     std::int64_t width, float epsilon, float offset = 0);
// dx may be null. dw, if not null, is [parts, width] float32 partial sums of `rms_norm_parts(rows)` parts, to
// be added up by launch_sum_parts.
template <typename T>
void launch_rms_norm_backward(Stream stream, const T* dy, const T* x, const T* w, const float* reciprocals,
                              T* dx, float* dw, std::int64_t rows, std::int64_t width, float offset = 0);
std::int64_t rms_norm_parts(std::int64_t rows);
// into[i] = (accumulate ? into[i] : 0) + sum over parts.
template <typename T>
void launch_sum_parts(Stream stream, const float* parts, std::int64_t count, std::int64_t width,
                      bool accumulate, T* into);

// x, y [rows, groups * (turned + passed) * head_dim]; y may be x. cosines, sines [sequence, half], of
// position row % sequence. direction: +1 forward, -1 backward.
template <typename T>
void launch_rotary(Stream stream, const T* x, T* y, const float* cosines, const float* sines,
                   const RotaryLayout& layout, std::int64_t rows, std::int64_t sequence, float direction);

// y, dy [rows, width]; the rows of gate, up and their gradients lie `stride` elements apart: width when each
// is a tensor, twice that when they share rows.
template <typename T>
void launch_swiglu(Stream stream, const T* gate, const T* up, T* y, std::int64_t rows, std::int64_t width,
                   std::int64_t stride);
// d_gate and d_up may each be null; `up` may be when d_gate is.
template <typename T>
void launch_swiglu_backward(Stream stream, const T* dy, const T* gate, const T* up, T* d_gate, T* d_up,
                            std::int64_t rows, std::int64_t width, std::int64_t stride);

// losses [rows]; sums [rows], log(sum(exp)) of each row, or null; gradient [rows, classes], null, or the
// logits themselves: (softmax - one_hot) * scale.
template <typename T>
void launch_cross_entropy(Stream stream, const T* logits, const std::int64_t* targets, std::int64_t rows,
                          std::int64_t classes, float scale, float* losses, float* sums, T* gradient);
// The gradient from the sums that launch_cross_entropy wrote; it may be the logits.
template <typename T>
void launch_cross_entropy_backward(Stream stream, const T* logits, const std::int64_t* targets,
                                   const float* sums, std::int64_t rows, std::int64_t classes, float scale,
                                   T* gradient);

}  // namespace shardlab::kernels
