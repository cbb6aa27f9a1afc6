// Causal attention by the fused CUDA kernels that come with ATen, for the variants they have: cuDNN's for
// float16 and bfloat16 where torch takes it on this device (Hopper and Blackwell), else flash attention
// (arXiv 2307.08691); CUTLASS' memory-efficient one for float32, and for masks where torch does not take
// cuDNN's.
//
// Source of signatures and layouts: torch 2.11, aten/src/ATen/native/transformers/cuda/attention.cu and
// attention_backward.cu, sdp_utils.cpp for which kernel is taken. All keep one log-sum-exp per head and row,
// like ours; dropout is 0, so the tensors of random numbers are never read. Flash attention's backward adds
// up dq in no fixed order unless deterministic algorithms are asked for; then cuDNN's is not taken.
#pragma once

#include "engine/execute/torch/operators/aten/attention_math.h"

namespace shardlab {

enum class FusedAttention : std::uint8_t { none, flash, efficient, cudnn };

FusedAttention fused_attention(const AttentionSettings& settings, const AttentionViews& in);

// Like attention_math_forward; `output` takes over the kernel's result.
void attention_fused_forward(FusedAttention kernel, const AttentionSettings& settings,
                             const AttentionViews& in, const at::Tensor& output,
                             const at::Tensor& log_sum_exp);

// `wanted`: q's, k's and v's gradients, or that of all in one, as the operator is handed them: those that are
// a tensor each take over the kernel's results.
void attention_fused_backward(FusedAttention kernel, const AttentionSettings& settings,
                              const AttentionViews& in, const at::Tensor& output,
                              const at::Tensor& log_sum_exp, const at::Tensor& d_output,
                              const AttentionViews& gradients, std::span<const at::Tensor> wanted);

}  // namespace shardlab
