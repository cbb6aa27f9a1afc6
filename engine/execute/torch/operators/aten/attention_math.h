// The heads of q, k and v, or of their gradients, as views of what attention is handed. For operators that
// are made of ATen's.
#pragma once

#include "engine/execute/torch/operators/aten/aten_access.h"

namespace shardlab {

// Undefined where there is none.
struct AttentionViews {
  at::Tensor q;     // [batch, sequence, kv_heads, query heads of a key-value head, head_dim]
  at::Tensor k, v;  // [batch, sequence, kv_heads, head_dim]
};

struct AttentionSettings {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  double scale = 0;         // of the scores
  std::int64_t window = 0;  // a query sees its last `window` keys, itself included; 0: all before it
  double soft_cap = 0;      // 0: none
  at::Tensor bias;          // [heads, sequence], added to the scores by key; may be undefined
  // [batch, heads, sequence, sequence], added to the scores and the only thing that hides any; of fused
  // kernels alone.
  at::Tensor mask{};

  std::int64_t queries_per_key() const { return heads / kv_heads; }
};

// `inputs`: q, k, v or all of them in one; then the bias, if there is one.
AttentionSettings attention_settings(const Operator& op, std::span<const at::Tensor> inputs);

// `tensors`: q, k, v or all of them in one.
AttentionViews attention_views(const Operator& op, std::span<const at::Tensor> tensors);

// Causal attention by plain products in float32, block after block of queries: every variant, on every
// device.
//
// A block's scores are a piece of aten_access.h, so nothing of size sequence x sequence is kept; keys right
// of the block, or before its window, are left out. Workspace: some copies of a piece, and float32 copies of
// k and v (backward: of their gradients too).

// output [batch, sequence, heads * head_dim]; log_sum_exp [batch, heads, sequence].
void attention_math_forward(const AttentionSettings& settings, const AttentionViews& in,
                            const at::Tensor& output, const at::Tensor& log_sum_exp);

// Writes the gradients that are defined.
void attention_math_backward(const AttentionSettings& settings, const AttentionViews& in,
                             const at::Tensor& output, const at::Tensor& log_sum_exp,
                             const at::Tensor& d_output, const AttentionViews& gradients);

}  // namespace shardlab
