// Causal attention in blocks, forward and backward, on raw memory (flash attention, arXiv 2205.14135,
// algorithm 1, and 2307.08691).
//
// Nothing of size sequence x sequence is stored. Scores right of the diagonal, or before the window, are
// neither computed nor read, up to the width of a block. Products take bfloat16 or float32 operands and give
// float32; sums over blocks are float32. Grouped queries read their k and v head in place, and its gradient
// sums over the group without copies.
#pragma once

#include <cstdint>

#include "engine/execute/torch/kernels/row_kernels.h"

namespace shardlab {

// Where heads lie in a row of q, k or v: elements from one position to the next, from the heads of one
// key-value head to those of the next, and from one query head to the next within them.
struct HeadStrides {
  std::int64_t position = 0, group = 0, head = 0;
};

struct AttentionShape {
  std::int64_t batch, sequence, heads, kv_heads, head_dim;
  HeadStrides q, kv;            // those of dq, and of dk and dv, are the same
  float scale = 1;              // of q k^T
  std::int64_t window = 0;      // a query sees its last `window` keys, itself included; 0: all before it
  float soft_cap = 0;           // scores become cap tanh(score / cap); 0: they stay
  const float* bias = nullptr;  // added to the scores of a head by key: [heads, sequence]; may be null

  std::int64_t queries_per_key() const { return heads / kv_heads; }
  std::int64_t output_stride() const { return heads * head_dim; }
  std::int64_t query_offset(std::int64_t head) const {
    return head / queries_per_key() * q.group + head % queries_per_key() * q.head;
  }
};

// q, k, v: by the strides; output [batch, sequence, heads * head_dim]; log_sum_exp [batch, heads, sequence].
template <typename T>
struct AttentionForward {
  const T *q, *k, *v;
  T* output;
  float* log_sum_exp;
};

// Gradients may be null where none is wanted; they are overwritten.
template <typename T>
struct AttentionBackward {
  const T *d_output, *q, *k, *v, *output;
  const float* log_sum_exp;
  T *dq, *dk, *dv;
};

// Bytes of scratch memory that one thread needs.
template <typename T>
std::int64_t attention_forward_scratch(const AttentionShape& shape);
template <typename T>
std::int64_t attention_backward_scratch(const AttentionShape& shape);

// Heads [begin, end) of batch * heads. `scratch`: aligned to 64 bytes.
template <typename T>
void attention_forward(const AttentionShape& shape, const AttentionForward<T>& tensors, std::int64_t begin,
                       std::int64_t end, char* scratch);
// Key heads [begin, end) of batch * kv_heads.
template <typename T>
void attention_backward(const AttentionShape& shape, const AttentionBackward<T>& tensors, std::int64_t begin,
                        std::int64_t end, char* scratch);

}  // namespace shardlab
