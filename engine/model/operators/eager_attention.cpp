// Attention that computes step by step, as the modules of transformers do.
#include <algorithm>

#include "engine/model/operators/attention_products.h"
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {

// attention as transformers' MptAttention computes it (5.23, modeling_mpt.py), scores and all: q and k
// multiplied, times the scale, + alibi in float32, later keys hidden by a mask, softmax in float32, back to
// the dtype of v, times v, heads put side by side again. Inputs: q, k and v in one (Packing::sections);
// alibi, a constant [heads, sequence] in float32; the mask, a constant [batch, 1, sequence, sequence] of
// bytes, which all layers share. Attributes of attention: heads, head_dim, scale.
//
// Keeps q, k and v as torch.matmul hands them to one product a head: copies of each, k turned, because batch
// and heads do not lie side by side; with one sequence or one head views of the input, which is kept then.
// And the probabilities: in float32 for the softmax, in v's dtype for the product. Executed FLOPs are those
// of whole matrices; MFU counts the pairs that causality leaves, as for the fused operator.

namespace {

// What sizes and steps depend on. Bytes: of all scores in float32 and in q's dtype, of one of q, k and v.
struct Scores {
  std::int64_t batch, heads, sequence, head_dim;
  DType dtype;
  Bytes wide, narrow, part, alibi, mask;
  bool casts, copies, merges;  // copies: in forward; merges: heads lie apart when they are put side by side

  Scores(const ModelGraph& graph, const Operator& op) {
    const Tensor& packed = graph.tensor(op.inputs[0]);
    batch = packed.shape[0];
    sequence = packed.shape[1];
    heads = op.attributes.get(attribute::k_heads);
    head_dim = op.attributes.get(attribute::k_head_dim);
    dtype = packed.dtype;
    const std::int64_t scores = saturated_product(batch, heads, sequence, sequence);
    wide = bytes_of(scores, DType::float32);
    narrow = bytes_of(scores, dtype);
    part = packed.bytes() / 3;
    alibi = graph.tensor(op.inputs[1]).bytes();
    mask = graph.tensor(op.inputs[2]).bytes();
    casts = dtype != DType::float32;
    copies = batch > 1 && heads > 1;
    merges = heads > 1 && sequence > 1;
  }
};

void list_kept(const Scores& s, OperatorDescription& description) {
  description.saved_inputs = s.copies ? 0b100 : 0b101;
  const std::int64_t each = s.batch * s.heads;
  if (s.copies) {
    description.extras.push_back({"query", {each, s.sequence, s.head_dim}, s.dtype});
    description.extras.push_back({"key", {each, s.head_dim, s.sequence}, s.dtype});
    description.extras.push_back({"value", {each, s.sequence, s.head_dim}, s.dtype});
  }
  const Shape scores{s.batch, s.heads, s.sequence, s.sequence};
  if (s.casts) description.extras.push_back({"wide_probabilities", scores, DType::float32});
  description.extras.push_back({"probabilities", scores, s.dtype});
}

// Scores lie, before they are hidden, where the probabilities will: the kept tensors are there from the
// start.
EagerSteps forward_steps(const Scores& s) {
  EagerSteps steps;
  if (s.copies) steps.kernel(s.part * 4);     // q and k
  steps.make(s.narrow, s.narrow * 2);         // times the scale
  steps.kernel(s.narrow + s.alibi + s.wide);  // + alibi
  steps.give(s.narrow);
  steps.make(s.wide, s.wide * 2);     // a copy
  steps.kernel(s.wide * 2 + s.mask);  // hidden in it
  steps.kernel(s.wide * 2);           // softmax
  if (s.casts) steps.kernel(s.wide + s.narrow);
  if (s.copies) steps.kernel(s.part * 2);  // v
  steps.take(s.part);                      // the product with v
  steps.kernel(s.part * 2);                // heads side by side
  return steps;
}

// From the gradient of the probabilities, `steps` holding it, to that of the product of q and k.
void score_steps(const Scores& s, const OperatorDescription& kept, EagerSteps& steps) {
  if (s.casts) {
    steps.make(s.wide, s.narrow + s.wide);
    steps.give(s.narrow);
  }
  steps.take(s.wide);
  steps.make(s.wide, s.wide * 3);  // times the probabilities
  steps.kernel(s.wide * 3);        // through softmax
  steps.give(s.wide);
  steps.give(s.wide);
  steps.give_extra(kept, s.casts ? "wide_probabilities" : "probabilities");
  steps.make(s.wide, s.wide * 2);     // a copy
  steps.kernel(s.wide * 2 + s.mask);  // hidden in it
  steps.give(s.wide);
  if (s.casts) {
    steps.make(s.narrow, s.wide + s.narrow);
    steps.give(s.wide);
  }
  steps.make(s.narrow, s.narrow * 2);  // times the scale
  steps.give(s.narrow);
}

EagerSteps backward_steps(const Scores& s, const OperatorDescription& kept) {
  EagerSteps steps;
  const bool splits = s.copies && s.sequence > 1;
  if (splits) steps.make(s.part, s.part * 2);  // heads apart
  steps.take(s.narrow);                        // of the probabilities
  steps.take(s.part);                          // of v
  if (splits) steps.give(s.part);
  if (s.casts) steps.give_extra(kept, "probabilities");
  steps.give_extra(kept, "value");
  score_steps(s, kept, steps);
  steps.take(s.part * 2);  // of q and k
  steps.give(s.narrow);
  if (s.merges) {  // v, then q; k lies right
    steps.make(s.part, s.part * 2);
    steps.give(s.part);
    steps.make(s.part, s.part * 2);
    steps.give(s.part);
  }
  steps.kernel(s.part * 6);  // put together
  return steps;
}

OperatorDescription describe_eager_attention(const ModelGraph& graph, const Operator& op) {
  const Scores s(graph, op);
  OperatorDescription description;
  list_kept(s, description);
  describe_forward(description, forward_steps(s));
  describe_backward(description, backward_steps(s, description));
  add_products({s.batch, s.heads, s.sequence, s.head_dim, 0, s.dtype}, description);
  return description;
}

}  // namespace

extern const OperatorType k_eager_attention{
    .name = "eager_attention",
    .describe = describe_eager_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
};

// attention of Falcon with alibi as transformers computes it by default, with sdpa (5.23,
// modeling_falcon.py): a fused kernel that is handed one matrix of biases for each head, alibi with the later
// keys at the lowest number of the dtype. Inputs: q, k and v in one (Packing::groups, a key-value head for
// each query head); the matrices, a constant [batch, heads, sequence, sequence] in q's dtype, which all
// layers share. Attributes of attention.
//
// Keeps what attention keeps, as torch's memory-efficient kernel does. It does not know that half of the
// matrix is hidden: executed FLOPs are those of all pairs, MFU counts those that causality leaves. Backward
// as autograd has it: the gradients of q, k and v apart, and of each the whole input's, zeros with the part
// in them.

namespace {

void count_all_pairs(std::vector<Work>& works, Bytes mask) {
  for (Work& work : works) {
    work.flops = work.flops * 2;
    work.bytes += mask;
    work.masked = true;
  }
}

// Behind the kernel, whose gradients of q, k and v `steps` makes.
EagerSteps backward_steps(Bytes whole) {
  const Bytes part = whole / 3;
  EagerSteps steps;
  steps.take(whole);
  steps.kernel(whole);     // zeros
  steps.kernel(part * 2);  // v in them
  steps.give(part);
  for (int i = 0; i < 2; ++i) {  // k, then q
    steps.make(whole, whole);
    steps.kernel(part * 2);
    steps.give(part);
    steps.kernel(whole * 3);
    steps.give(whole);
  }
  return steps;
}

OperatorDescription describe_eager_masked_attention(const ModelGraph& graph, const Operator& op) {
  const Tensor &packed = graph.tensor(op.inputs[0]), &mask = graph.tensor(op.inputs[1]);
  OperatorDescription description = k_attention.describe(graph, op);
  count_all_pairs(description.forward, mask.bytes());
  count_all_pairs(description.backward, mask.bytes());
  const EagerSteps steps = backward_steps(packed.bytes());
  for (const Work& work : steps.works()) description.backward.push_back(work);
  description.backward_temporaries = steps.peak();
  // The kernel for processors adds biases by key, which it takes from the last query's row; its scratch
  // memory is gone when whole gradients are made.
  const Bytes by_key = bytes_of(op.attributes.get(attribute::k_heads) * packed.shape[1], DType::float32);
  const Bytes beside = by_key + description.backward_workspace;
  description.forward_workspace += by_key;
  description.backward_workspace = std::max(beside, steps.peak()) - steps.peak();
  return description;
}

}  // namespace

extern const OperatorType k_eager_masked_attention{
    .name = "eager_masked_attention",
    .describe = describe_eager_masked_attention,
    .category = OperatorCategory::attention,
    .table_in_own_dtype = true,
    .autocast = AutocastRule::lower,
};

}  // namespace shardlab
