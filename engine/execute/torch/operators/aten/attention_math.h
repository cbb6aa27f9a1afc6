// Causal attention by plain products in float32, block after block of queries: every variant, on every
// device.
//
// A block's scores are a piece of aten_access.h, so nothing of size sequence x sequence is kept; keys right
// of the block, or before its window, are left out. Workspace: some copies of a piece, and float32 copies of
// k and v (backward: of their gradients too).
#pragma once

#include "engine/execute/torch/operators/aten/attention_views.h"

namespace shardlab {

// output [batch, sequence, heads * head_dim]; log_sum_exp [batch, heads, sequence].
void attention_math_forward(const AttentionSettings& settings, const AttentionViews& in,
                            const at::Tensor& output, const at::Tensor& log_sum_exp);

// Writes the gradients that are defined.
void attention_math_backward(const AttentionSettings& settings, const AttentionViews& in,
                             const at::Tensor& output, const at::Tensor& log_sum_exp,
                             const at::Tensor& d_output, const AttentionViews& gradients);

}  // namespace shardlab
