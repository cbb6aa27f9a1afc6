// attention step by step, as transformers' modules compute it with attn_implementation "eager" (5.23,
// modeling_llama.py eager_attention_forward and its copies): keys and values repeated for each query head, q
// and k multiplied, times the scale, + a mask, softmax in float32, back to q's dtype, times v, heads put side
// by side again. With dropout (the attribute) a share of the probabilities in q's dtype is dropped before the
// product. With a soft cap (modeling_gemma2.py, which offers nothing else), of which there is an
// operator by itself, / cap, tanh and * cap stand before the mask. Inputs: q, k, v as attention's; the mask,
// a constant [batch, 1, sequence, sequence] that all layers of the same window share, in q's dtype or, under
// autocast, in float32. Attributes of attention: heads, kv_heads, head_dim, soft_cap, scale, window.
//
// GPT-2's (modeling_gpt2.py) takes q, k and v as sections of one input, before the mask, and with the
// attribute narrow_softmax computes softmax in q's dtype, whose result is one tensor then; their gradients
// are put together to that of the input.
//
// Keeps what autograd of torch 2.11 keeps: both operands of the two products, tanh's result, the
// probabilities in float32 for the softmax and in q's dtype for the product, and with dropout a mask and what
// it left of them for the product. Operands are views of the inputs
// (which are kept then) but where repeat_kv copies, and where torch.matmul does because batch and heads do
// not lie side by side. Executed FLOPs are those of whole matrices; MFU counts the pairs that causality and
// the window leave.
#include <span>

#include "engine/model/operators/attention_products.h"
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

// What sizes and steps depend on. Bytes: of all scores in float32 and in q's dtype; of q, and so of keys or
// values for all query heads; of keys or values as they come; of the mask; of dropout's mask.
struct SteppedScores {
  std::int64_t batch, heads, sequence, head_dim, window;
  DType dtype;
  Bytes wide, narrow, whole, part, mask, bits;
  bool packed;  // q, k and v are one input
  bool capped;
  bool drops;
  bool grouped;          // several query heads read one key head
  bool repeats;          // repeat_kv copies: one key head for all is a view
  bool copies_q;         // matmul copies q
  bool copies_kv;        // matmul copies k and v
  bool casts;            // softmax has another dtype
  bool masked_in_float;  // the mask makes float32 of the scores
  bool casts_inside;     // softmax reads float16 and writes float32: torch has that for float16 on a device

  SteppedScores(const ModelGraph& graph, const Operator& op) {
    const Tensor &q = graph.tensor(op.inputs[0]), &added = graph.tensor(op.inputs.back());
    batch = q.shape[0];
    sequence = q.shape[1];
    heads = op.attributes.get(attribute::k_heads);
    head_dim = op.attributes.get(attribute::k_head_dim);
    const std::int64_t kv_heads = op.attributes.get(attribute::k_kv_heads);
    packed = op.attributes.get_or(attribute::k_packed, Packing::separate) != Packing::separate;
    window = op.attributes.get_or(attribute::k_window, 0);
    dtype = q.dtype;
    capped = op.type == &k_eager_capped_attention;
    drops = op.attributes.get_or(attribute::k_dropout, 0) > 0;
    const std::int64_t scores = saturated_product(batch, heads, sequence, sequence);
    const bool narrow_softmax =
        op.attributes.get_or(attribute::k_narrow_softmax, false) && added.dtype == dtype;
    wide = bytes_of(scores, narrow_softmax ? dtype : DType::float32);
    narrow = bytes_of(scores, dtype);
    bits = Bytes{scores};
    whole = bytes_of(saturated_product(batch, sequence, heads, head_dim), dtype);
    part = bytes_of(saturated_product(batch, sequence, kv_heads, head_dim), dtype);
    mask = added.bytes();
    grouped = kv_heads < heads;
    repeats = grouped && kv_heads > 1;
    copies_q = batch > 1 && heads > 1 && sequence > 1;
    copies_kv = !repeats && batch > 1 && heads > 1 && (grouped || sequence > 1);
    casts = dtype != DType::float32 && !narrow_softmax;
    masked_in_float = casts && added.dtype != dtype;
    casts_inside = casts && dtype == DType::float16 && !masked_in_float;
  }
};

void list_kept(const SteppedScores& s, OperatorDescription& description) {
  const std::int64_t each = s.batch * s.heads;
  if (s.copies_q)
    description.extras.push_back({"query", {each, s.sequence, s.head_dim}, s.dtype});
  else
    description.saved_inputs |= 0b001;
  if (s.repeats) {
    description.extras.push_back({"repeated_key", {each, s.sequence, s.head_dim}, s.dtype});
    description.extras.push_back({"value", {each, s.sequence, s.head_dim}, s.dtype});
  } else if (s.copies_kv) {
    description.extras.push_back({"turned_key", {each, s.head_dim, s.sequence}, s.dtype});
    description.extras.push_back({"value", {each, s.sequence, s.head_dim}, s.dtype});
  } else {
    description.saved_inputs |= s.packed ? 0b001 : 0b110;
  }
  const Shape scores{s.batch, s.heads, s.sequence, s.sequence};
  if (s.capped) description.extras.push_back({"tanh", scores, s.dtype});
  if (s.casts) description.extras.push_back({"wide_probabilities", scores, DType::float32});
  if (!s.casts || !s.drops) description.extras.push_back({"probabilities", scores, s.dtype});
  if (!s.drops) return;
  description.extras.push_back({"drop_mask", scores, DType::uint8});
  description.extras.push_back({"dropped", scores, s.dtype});
}

// + the mask, and softmax. `steps` holds one tensor of scores in q's dtype beside the kept ones; that of what
// the product reads is free for another.
void softmax_steps(const SteppedScores& s, EagerSteps& steps) {
  if (s.masked_in_float) {
    steps.give(s.narrow);
    steps.make(s.wide, s.narrow + s.wide + s.mask);
    steps.kernel(s.wide * 2);
    steps.give(s.wide);
  } else if (!s.casts || s.casts_inside) {
    steps.kernel(s.narrow * 2 + s.mask);
    if (s.casts) steps.give(s.narrow);
    steps.kernel(s.narrow + s.wide);
    if (!s.casts) steps.give(s.narrow);
  } else {
    steps.kernel(s.narrow * 2 + s.mask);
    steps.give(s.narrow);
    steps.make(s.wide, s.narrow + s.wide);
    steps.kernel(s.wide * 2);
    steps.give(s.wide);
  }
  if (!s.drops) {
    if (s.casts) steps.kernel(s.wide + s.narrow);
    return;
  }
  if (s.casts) steps.make(s.narrow, s.wide + s.narrow);
  steps.kernel(s.narrow * 2 + s.bits);
  if (s.casts) steps.give(s.narrow);
}

// Kept tensors are there from the start: scores lie in the probabilities' place and in one tensor more.
EagerSteps forward_steps(const SteppedScores& s) {
  EagerSteps steps;
  if (s.repeats) steps.kernel(s.part + s.whole);    // k
  if (s.repeats) steps.kernel(s.part + s.whole);    // v
  if (s.copies_q) steps.kernel(s.whole * 2);        // q
  if (s.copies_kv) steps.kernel(s.part + s.whole);  // k
  steps.take(s.narrow);
  steps.kernel(s.narrow * 2);  // times the scale
  if (s.capped) {
    for (int i = 0; i < 3; ++i) steps.kernel(s.narrow * 2);  // / cap, tanh, * cap
  }
  softmax_steps(s, steps);
  if (s.copies_kv) steps.kernel(s.part + s.whole);  // v
  steps.take(s.whole);                              // the product with v
  steps.kernel(s.whole * 2);                        // heads side by side
  return steps;
}

// From the gradient of the probabilities, `steps` holding it, to that of the product of q and k.
void score_steps(const SteppedScores& s, const OperatorDescription& kept, EagerSteps& steps) {
  if (s.casts) {
    steps.make(s.wide, s.narrow + s.wide);
    steps.give(s.narrow);
  }
  const Bytes result = s.casts_inside ? s.narrow : s.wide;
  steps.take(result);
  steps.make(s.wide, s.wide * 3);     // times the probabilities
  steps.kernel(s.wide * 2 + result);  // through softmax
  steps.give(s.wide);
  steps.give(s.wide);
  steps.give_extra(kept, s.casts ? "wide_probabilities" : "probabilities");
  if (s.casts && !s.casts_inside) {
    steps.make(s.narrow, s.wide + s.narrow);
    steps.give(s.wide);
  }
  constexpr int k_operands[] = {2, 3, 2, 2};  // * cap, tanh, / cap, times the scale
  for (const int operands : std::span(k_operands).subspan(s.capped ? 0 : 3)) {
    steps.make(s.narrow, s.narrow * operands);
    steps.give(s.narrow);
    if (operands == 3) steps.give_extra(kept, "tanh");
  }
}

// The gradient of keys or values, `steps` holding that for all query heads, into a result.
void key_steps(const SteppedScores& s, EagerSteps& steps) {
  if (s.packed) {  // by token, for later
    steps.make(s.part, s.part * 2);
    steps.give(s.part);
  } else if (s.grouped) {
    steps.make(s.part, s.whole + s.part);
    steps.give(s.whole);
    steps.kernel(s.part * 2);
    steps.give(s.part);
  } else {
    steps.kernel(s.part * 2);
    steps.give(s.part);
  }
}

EagerSteps backward_steps(const SteppedScores& s, const OperatorDescription& kept) {
  EagerSteps steps;
  if (s.copies_q) steps.make(s.whole, s.whole * 2);  // heads apart
  steps.take(s.whole);                               // of v
  steps.take(s.narrow);                              // of the probabilities
  if (s.copies_q) steps.give(s.whole);
  if (s.casts || s.drops) steps.give_extra(kept, s.drops ? "dropped" : "probabilities");
  steps.give_extra(kept, "value");
  if (s.drops) {
    steps.make(s.narrow, s.narrow * 2 + s.bits);
    steps.give(s.narrow);
    steps.give_extra(kept, "drop_mask");
  }
  score_steps(s, kept, steps);
  steps.take(s.whole * 2);  // of k and q
  steps.give(s.narrow);
  steps.give_kept();
  if (!s.packed) steps.allocate_results();
  key_steps(s, steps);  // v
  key_steps(s, steps);  // k
  if (!s.packed) {
    steps.kernel(s.whole * 2);  // q
    steps.give(s.whole);
    return steps;
  }
  steps.make(s.whole, s.whole * 2);
  steps.give(s.whole);
  steps.allocate_results();
  steps.kernel((s.whole + s.part * 2) * 2);  // put together
  steps.give(s.whole);
  steps.give(s.part * 2);
  return steps;
}

OperatorDescription describe_eager_stepped_attention(const ModelGraph& graph, const Operator& op) {
  const SteppedScores s(graph, op);
  OperatorDescription description;
  list_kept(s, description);
  describe_forward(description, forward_steps(s));
  describe_backward(description, backward_steps(s, description));
  add_products({s.batch, s.heads, s.sequence, s.head_dim, s.window, s.dtype}, description);
  return description;
}

}  // namespace

extern const OperatorType k_eager_capped_attention{
    .name = "eager_capped_attention",
    .describe = describe_eager_stepped_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
    .drops = true,
};

extern const OperatorType k_eager_stepped_attention{
    .name = "eager_stepped_attention",
    .describe = describe_eager_stepped_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
    .drops = true,
};

}  // namespace shardlab
