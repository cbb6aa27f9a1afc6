// The table of one instruction set. Private to isa_*.cpp.
#pragma once

#include "engine/execute/torch/kernels/body/activations.h"
#include "engine/execute/torch/kernels/body/norms.h"
#include "engine/execute/torch/kernels/body/pointwise.h"
#include "engine/execute/torch/kernels/body/softmax.h"

namespace shardlab::SHARDLAB_ISA {

template <typename T>
constexpr RowKernels<T> make_table() {
  return {.rms_norm_forward = rms_norm_forward<T>,
          .rms_norm_backward = rms_norm_backward<T>,
          .layer_norm_forward = layer_norm_forward<T>,
          .layer_norm_backward = layer_norm_backward<T>,
          .rope = rope<T>,
          .swiglu_forward = swiglu_forward<T>,
          .swiglu_backward = swiglu_backward<T>,
          .gelu_forward = gelu_forward<T>,
          .gelu_backward = gelu_backward<T>,
          .geglu_forward = geglu_forward<T>,
          .geglu_backward = geglu_backward<T>,
          .soft_cap_forward = soft_cap_forward<T>,
          .soft_cap_backward = soft_cap_backward<T>,
          .apply_mask = apply_mask<T>,
          .scale = scale<T>,
          .product = product<T>,
          .log_sum_exp = log_sum_exp<T>,
          .cross_entropy_backward = cross_entropy_backward<T>,
          .add_row = add_row<T>,
          .add_scaled_row = add_scaled_row<T>,
          .store_row = store_row<T>,
          .softmax_step = softmax_step<T>,
          .scale_rows = scale_rows<T>,
          .scale_rows_into = scale_rows_into<T>,
          .probabilities = probabilities<T>,
          .softmax_backward = softmax_backward<T>,
          .dot_rows = dot_rows<T>};
}

extern const RowKernels<float> k_float_kernels;
extern const RowKernels<BFloat16> k_bfloat16_kernels;
extern const RowKernels<Float16> k_float16_kernels;
constexpr RowKernels<float> k_made_float = make_table<float>();
constexpr RowKernels<BFloat16> k_made_bfloat16 = make_table<BFloat16>();
constexpr RowKernels<Float16> k_made_float16 = make_table<Float16>();
const RowKernels<float> k_float_kernels = k_made_float;
const RowKernels<BFloat16> k_bfloat16_kernels = k_made_bfloat16;
const RowKernels<Float16> k_float16_kernels = k_made_float16;

}  // namespace shardlab::SHARDLAB_ISA
