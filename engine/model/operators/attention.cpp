// Causal scaled dot-product attention, fused. Inputs q [batch, sequence, heads * head_dim], k and v [..,
// kv_heads * head_dim]; output like q. Or, with the attribute `packed`, one input that holds all three: heads
// of q, then of k, then of v (Packing::sections, GPT-2, MPT), or for each key-value head its query heads, its
// k and its v (Packing::groups, Falcon). A last input, if there is one more, is a constant [heads, sequence]
// that is added to the scores by head and key (alibi).
//
// Attributes: heads, kv_heads, head_dim; and optionally scale (of the scores, else 1 / sqrt(head_dim)),
// window (a query sees its last so many keys, itself included), soft_cap (scores become cap tanh(score /
// cap)).
//
// Keeps q, k, v, the output and one float32 log-sum-exp per head and row (flash attention, arXiv 2205.14135).
// Executed FLOPs: forward 2 products, backward 5 (one of them recomputes the scores); MFU counts 2 and 4,
// over the pairs that causality and the window leave. Backward computes the gradients of q, k and v together.
#include <algorithm>

#include "engine/model/operators/attention_pairs.h"
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

Work attention_work(Flops flops, Flops model_flops, Bytes bytes) {
  Work work;
  work.kind = WorkKind::attention;
  work.flops = flops;
  work.model_flops = model_flops;
  work.bytes = bytes;
  return work;
}

// Scratch memory of the blocked CPU kernel (engine/execute/torch/kernels/attention_blocks.h, where the sizes
// of a block are chosen): pieces aligned to 64 bytes. In float32 sums are made in place, in bfloat16 beside
// the result.
std::int64_t block_rows(std::int64_t sequence) {
  return std::min<std::int64_t>(sequence < 1024 ? 64 : 128, sequence);
}
std::int64_t block_elements(std::int64_t sequence) {
  return block_rows(sequence) * std::min<std::int64_t>(512, sequence);
}

Bytes piece(std::int64_t elements, DType dtype) {
  return {(bytes_of(elements, dtype).value + 63) / 64 * 64};
}

Bytes forward_scratch(DType dtype, std::int64_t sequence, std::int64_t head_dim) {
  const std::int64_t rows = block_rows(sequence);
  const std::int64_t block = block_elements(sequence);
  const Bytes common = piece(block, DType::float32) + piece(rows, DType::float32) * 3;
  if (dtype == DType::float32) return common;
  return common + piece(block, dtype) + piece(rows * head_dim, DType::float32);
}

Bytes backward_scratch(DType dtype, std::int64_t sequence, std::int64_t head_dim, bool soft_cap) {
  const std::int64_t rows = block_rows(sequence);
  const std::int64_t block = block_elements(sequence);
  const Bytes common = piece(block, DType::float32) * (soft_cap ? 3 : 2) + piece(rows, DType::float32);
  if (dtype == DType::float32) return common;
  return common + piece(block, dtype) * 2 + piece(rows * head_dim, DType::float32) +
         piece(sequence * head_dim, DType::float32) * 2;
}

OperatorDescription describe_attention(const ModelGraph& graph, const Operator& op) {
  const Tensor& q = graph.tensor(op.inputs[0]);
  const std::int64_t batch = q.shape[0];
  const std::int64_t sequence = q.shape[1];
  const std::int64_t heads = op.attributes.get(attribute::k_heads);
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim);
  const std::int64_t pairs = twice_the_pairs(sequence, op.attributes.get_or(attribute::k_window, 0));
  const Flops product{saturated_product(batch, heads, pairs, head_dim)};
  const Bytes output = graph.tensor(op.outputs[0]).bytes();
  const bool packed = op.attributes.get_or(attribute::k_packed, Packing::separate) != Packing::separate;
  const Bytes inputs = packed ? q.bytes() : q.bytes() + graph.tensor(op.inputs[1]).bytes() * 2;

  OperatorDescription description;
  const InputMask differentiable = packed ? 0b1 : 0b111;
  description.saved_inputs = (InputMask{1} << op.inputs.size()) - 1;
  description.saved_outputs = 0b1;
  description.computed_gradients = differentiable;
  description.extras.push_back({"log_sum_exp", {batch, heads, sequence}, DType::float32});
  description.forward_workspace = forward_scratch(q.dtype, sequence, head_dim);
  description.backward_workspace =
      backward_scratch(q.dtype, sequence, head_dim, op.attributes.get_or(attribute::k_soft_cap, 0) > 0);
  description.forward.push_back(attention_work(product * 2, product * 2, inputs + output));
  description.backward.push_back(attention_work(product * 5, product * 4, (inputs + output) * 2));
  return description;
}

}  // namespace

extern const OperatorType k_attention{
    .name = "attention",
    .describe = describe_attention,
    .category = OperatorCategory::attention,
    .probe = &k_attention_probe,
    .common = true,
    .make_eager = make_attention_eager,
    .autocast = AutocastRule::lower,
};

}  // namespace shardlab
