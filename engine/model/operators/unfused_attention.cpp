// attention as Megatron-LM and Megatron-DeepSpeed compute it without flash attention (Megatron core 0.12,
// dot_product_attention.py, with masked_softmax_fusion; TransformerEngine calls it unfused): the product of q
// and k, one kernel for scale, causality and softmax (ScaledUpperTriangMaskedSoftmax) in q's dtype, the
// product with v, heads put side by side. Inputs: q, k, v as attention's, apart or in sections, without
// biases. Attributes of attention but soft_cap.
//
// Keeps q, k, v as they came, repeated for each query head where several share one (repeat_interleave), and
// the probabilities in q's dtype; with dropout (the attribute) also a mask and what it left of them. In
// Megatron's order of tokens before sequences no operand of a product is copied. Softmax's backward
// overwrites its gradient. Its kernels read what causality leaves and write all
// (megatron/fused_kernels/scaled_upper_triang_masked_softmax.h); ours are handed a matrix of it, a byte a
// pair, which counts as memory and not as traffic. Executed FLOPs are those of whole matrices; MFU counts the
// pairs that causality and the window leave.
#include "engine/model/operators/attention_products.h"
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

// What sizes and steps depend on. Bytes: of all scores; of q, and so of keys or values for all query heads;
// of keys or values as they come; of the matrix of causality; of dropout's mask.
struct UnfusedScores {
  std::int64_t batch, heads, sequence, head_dim, window;
  DType dtype;
  Bytes scores, whole, part, seen, mask;
  Bytes read;  // by softmax's kernel: scores left of the diagonal, or all where a window hides more
  bool packed;
  bool repeats;  // several query heads read one key head
  bool drops;

  UnfusedScores(const ModelGraph& graph, const Operator& op) {
    const Tensor& q = graph.tensor(op.inputs[0]);
    batch = q.shape[0];
    sequence = q.shape[1];
    heads = op.attributes.get(attribute::k_heads);
    head_dim = op.attributes.get(attribute::k_head_dim);
    window = op.attributes.get_or(attribute::k_window, 0);
    dtype = q.dtype;
    packed = op.attributes.get_or(attribute::k_packed, Packing::separate) != Packing::separate;
    const std::int64_t kv_heads = op.attributes.get(attribute::k_kv_heads);
    repeats = kv_heads < heads;
    mask = Bytes{saturated_product(batch, heads, sequence, sequence)};
    scores = bytes_of(mask.value, dtype);
    drops = op.attributes.get_or(attribute::k_dropout, 0) > 0;
    whole = bytes_of(saturated_product(batch, sequence, heads, head_dim), dtype);
    part = bytes_of(saturated_product(batch, sequence, kv_heads, head_dim), dtype);
    seen = Bytes{saturated_product(sequence, sequence)};
    read = window > 0 && window < sequence
               ? scores
               : bytes_of(saturated_product(batch, heads, sequence * (sequence + 1) / 2), dtype);
  }
};

void list_kept(const UnfusedScores& s, OperatorDescription& description) {
  description.saved_inputs = s.packed || s.repeats ? 0b001 : 0b111;
  if (s.repeats) {
    const Shape all_heads{s.batch, s.sequence, s.heads, s.head_dim};
    description.extras.push_back({"repeated_key", all_heads, s.dtype});
    description.extras.push_back({"repeated_value", all_heads, s.dtype});
  }
  const Shape scores{s.batch, s.heads, s.sequence, s.sequence};
  description.extras.push_back({"probabilities", scores, s.dtype});
  if (!s.drops) return;
  description.extras.push_back({"drop_mask", scores, DType::uint8});
  description.extras.push_back({"dropped", scores, s.dtype});
}

// Kept tensors are there from the start. Python's variable holds the scores to the end.
EagerSteps forward_steps(const UnfusedScores& s) {
  EagerSteps steps;
  for (int repeated = 0; s.repeats && repeated < 2; ++repeated) {  // k, v
    steps.result_follows(1 + static_cast<std::size_t>(repeated));
    steps.kernel(s.part + s.whole);
  }
  steps.take(s.scores);
  steps.take(s.seen);
  const std::size_t probabilities = s.repeats ? 3 : 1;
  steps.result_follows(probabilities);
  steps.kernel(s.read + s.scores);  // softmax
  steps.give(s.seen);
  if (s.drops) {
    steps.result_follows(probabilities + 1);
    steps.result_follows(probabilities + 2);
    steps.kernel(s.scores * 2 + s.mask);
  }
  steps.take(s.whole);  // the product with v
  steps.result_follows(0);
  steps.kernel(s.whole * 2);  // heads side by side
  return steps;
}

// The gradients of q, k and v meet in the rows that they came in.
EagerSteps backward_steps(const UnfusedScores& s, const OperatorDescription& kept) {
  EagerSteps steps;
  steps.take(s.whole);   // of v
  steps.take(s.scores);  // of the probabilities
  steps.give_extra(kept, "dropped");
  steps.give_extra(kept, "repeated_value");
  if (s.drops) {
    steps.make(s.scores, s.scores * 2 + s.mask);
    steps.give(s.scores);
    steps.give_extra(kept, "drop_mask");
  }
  steps.kernel(s.read * 2 + s.scores);  // through softmax, in place
  steps.give_extra(kept, "probabilities");
  steps.take(s.whole * 2);  // of k and q
  steps.give(s.scores);
  steps.give_kept();
  steps.allocate_results();
  for (int repeated = 0; repeated < 2; ++repeated) {  // v, k
    steps.kernel(s.repeats ? s.whole + s.part : s.part * 2);
    steps.give(s.whole);
  }
  steps.kernel(s.whole * 2);  // q
  steps.give(s.whole);
  return steps;
}

OperatorDescription describe_unfused_attention(const ModelGraph& graph, const Operator& op) {
  const UnfusedScores s(graph, op);
  OperatorDescription description;
  list_kept(s, description);
  describe_forward(description, forward_steps(s));
  describe_backward(description, backward_steps(s, description));
  add_products({s.batch, s.heads, s.sequence, s.head_dim, s.window, s.dtype}, description);
  return description;
}

}  // namespace

extern const OperatorType k_unfused_attention{
    .name = "unfused_attention",
    .describe = describe_unfused_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
    .drops = true,
};

}  // namespace shardlab
