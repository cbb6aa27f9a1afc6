// attention with a window as transformers computes it by default, with sdpa (5.23, sdpa_attention.py
// sdpa_attention_forward): a fused kernel that is handed a matrix to add to the scores. Inputs: q, k, v as
// attention's; the mask, a constant [1, 1, sequence, sequence] of bytes that all layers of the same window
// share, 1 where a query may look. Attributes of attention.
//
// Beside a mask transformers repeats keys and values for each query head, and torch 2.11 turns bytes into a
// matrix of q's dtype at each call (attention.cpp, convert_boolean_attn_mask): by a negation and a choice,
// for each sequence of the batch. Kept are what attention keeps, the matrix, and repeated keys and values
// instead of those that came. The kernel does not know what is hidden: executed FLOPs are those of all pairs,
// MFU counts the pairs in the window.
#include <algorithm>

#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

// What sizes and steps depend on. Bytes: of q, and so of keys or values for all query heads; of keys or
// values as they come; of the mask for all sequences; of the matrix.
struct Windowed {
  std::int64_t batch, heads, sequence, head_dim;
  DType dtype;
  Bytes whole, part, mask, matrix;
  bool repeats;  // one key head for all is a view

  Windowed(const ModelGraph& graph, const Operator& op) {
    const Tensor &q = graph.tensor(op.inputs[0]), &k = graph.tensor(op.inputs[1]);
    batch = q.shape[0];
    sequence = q.shape[1];
    heads = op.attributes.get(attribute::k_heads);
    head_dim = op.attributes.get(attribute::k_head_dim);
    dtype = q.dtype;
    whole = q.bytes();
    part = k.bytes();
    mask = graph.tensor(op.inputs[3]).bytes() * batch;
    matrix = bytes_of(saturated_product(batch, sequence, sequence), dtype);
    const std::int64_t kv_heads = op.attributes.get(attribute::k_kv_heads);
    repeats = kv_heads > 1 && kv_heads < heads;
  }

  Shape all_heads() const { return {batch, sequence, heads * head_dim}; }
};

// The kernel of attention, over all pairs and with the matrix; of MFU's pairs it knows.
void hand_over(const Windowed& s, std::vector<Work>& works, std::int64_t products) {
  Work& kernel = works.front();
  kernel.flops = Flops{saturated_product(products, 2, s.batch, s.heads, s.sequence, s.sequence, s.head_dim)};
  kernel.masked = true;
  kernel.bytes += s.matrix;
  if (s.repeats) kernel.bytes += (s.whole - s.part) * (products == 2 ? 2 : 4);
}

// Results: the output, the log-sum-exp, repeated keys and values, the matrix.
EagerSteps forward_steps(const Windowed& s) {
  EagerSteps steps;
  for (const std::size_t repeated : {2, 3}) {  // k, v
    if (!s.repeats) continue;
    steps.result_follows(repeated);
    steps.kernel(s.part + s.whole);
  }
  steps.make(s.mask, s.mask * 2);  // negated
  steps.result_follows(s.repeats ? 4 : 2);
  steps.kernel(s.mask + s.matrix);
  steps.give(s.mask);
  steps.results_follow();
  return steps;
}

// Behind the kernel: what the query heads of a group gave is added up, and heads are put side by side again.
// Results: the gradients of q, k and v.
EagerSteps backward_steps(const Windowed& s) {
  EagerSteps steps;
  if (!s.repeats) return steps;
  steps.result_follows(0);
  steps.take(s.whole);
  steps.take(s.whole);
  steps.give_kept();
  for (const std::size_t input : {2, 1}) {
    steps.make(s.part, s.whole + s.part);
    steps.give(s.whole);
    steps.result_follows(input);
    steps.kernel(s.part * 2);
    steps.give(s.part);
  }
  return steps;
}

// The kernel for processors, whose scratch memory `workspace` was, works beside `held` bytes of temporaries.
Bytes beyond_temporaries(Bytes workspace, Bytes held, Bytes peak) {
  return std::max(workspace + held, peak) - peak;
}

OperatorDescription describe_eager_windowed_attention(const ModelGraph& graph, const Operator& op) {
  const Windowed s(graph, op);
  OperatorDescription description = k_attention.describe(graph, op);
  description.saved_inputs = s.repeats ? 0b0001 : 0b0111;
  if (s.repeats) {
    description.extras.push_back({"repeated_key", s.all_heads(), s.dtype});
    description.extras.push_back({"repeated_value", s.all_heads(), s.dtype});
  }
  description.extras.push_back({"matrix", {s.batch, 1, s.sequence, s.sequence}, s.dtype});
  hand_over(s, description.forward, 2);
  hand_over(s, description.backward, 5);
  const EagerSteps forward = forward_steps(s), backward = backward_steps(s);
  for (const Work& work : forward.works()) description.forward.push_back(work);
  for (const Work& work : backward.works()) description.backward.push_back(work);
  description.forward_temporaries = forward.peak();
  description.forward_blocks = forward.blocks();
  description.forward_workspace = beyond_temporaries(description.forward_workspace, Bytes{}, forward.peak());
  description.backward_temporaries = backward.peak();
  description.backward_blocks = backward.blocks();
  const Bytes held = s.repeats ? s.whole * 2 : Bytes{};
  description.backward_workspace = beyond_temporaries(description.backward_workspace, held, backward.peak());
  return description;
}

}  // namespace

extern const OperatorType k_eager_windowed_attention{
    .name = "eager_windowed_attention",
    .describe = describe_eager_windowed_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
};

}  // namespace shardlab
