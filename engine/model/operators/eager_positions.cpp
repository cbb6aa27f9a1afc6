// Rotary positions that compute step by step, as the modules of transformers do.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {

// rope as the transformers modules compute it (5.23, modeling_llama.py apply_rotary_pos_emb): x cos +
// rotate_half(x) sin, with rotate_half a negation and a concatenation. Where a part of each head is turned
// (modeling_phi.py), that part is taken out and put together with the rest again. Inputs: x; a constant [2,
// positions, turned elements] in x's dtype, cosines and sines of both halves (attribute `halves` of
// model/constants.h). Attribute: head_dim. Under torch.autocast x may be narrower than the table, and the
// result is as wide.
//
// Keeps nothing but the table. Backward as autograd has it: of each slice a whole tensor of zeros.

namespace {

// Bytes: of all of x, of what is turned, of its cosines, of what is turned in the dtype of the result.
struct Turn {
  Bytes whole, turned, table, wide;
  bool partial;
};

EagerSteps forward_steps(const Turn& t) {
  EagerSteps steps;
  if (!t.partial) {
    turn(steps, t.turned, t.table, t.wide);
    return steps;
  }
  turn_products(steps, t.turned, t.table, t.wide);
  steps.make(t.wide, t.wide * 3);  // the sum apart
  steps.give(t.wide * 2);
  steps.kernel(t.whole * 2);
  return steps;
}

EagerSteps backward_steps(const Turn& t) {
  EagerSteps steps;
  if (t.partial) steps.take(t.turned);
  turn_back(steps, t.turned, t.table, t.wide);
  if (!t.partial) return steps;
  steps.kernel(t.whole);  // zeros, and what was not turned in them
  steps.kernel((t.whole - t.turned) * 2);
  steps.make(t.whole, t.whole);  // zeros, and what was turned in them
  steps.kernel(t.turned * 2);
  steps.give(t.turned);
  steps.kernel(t.whole * 3);
  return steps;
}

OperatorDescription describe_eager_rope(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Tensor& table = graph.tensor(op.inputs[1]);
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim), turned = table.shape[2];
  const Bytes result = graph.tensor(op.outputs[0]).bytes();
  const Turn turn{x.bytes(), x.bytes() / head_dim * turned, table.bytes() / 2, result / head_dim * turned,
                  turned < head_dim};
  OperatorDescription description;
  description.saved_inputs = 0b10;
  describe_forward(description, forward_steps(turn));
  describe_backward(description, backward_steps(turn));
  return description;
}

}  // namespace

extern const OperatorType k_eager_rope{
    .name = "eager_rope",
    .describe = describe_eager_rope,
    .probe = &k_eager_rope_probe,
    .table_in_own_dtype = true,
    .promotes_with_table = true,
};

// rope of Falcon's q, k and v in one, as transformers' FalconAttention computes it (5.23,
// modeling_falcon.py): k and v are taken out by an index, which copies them; where a key-value head has
// several query heads and is not the only one, q is flattened and k and v are repeated for each query head,
// copies too; then q and k are turned as by eager_rope. Inputs and attributes of rope with turned and passed
// heads, in groups (Packing::groups); output: all heads of q, of k, of v (Packing::sections), of k and v as
// many as of q where they are repeated.
//
// Keeps the table, and both indices, one int64 each. Backward as autograd has it: of each slice a whole
// tensor of zeros.

namespace {

// Bytes: of all rows, of q, of k or v as they come, and as they leave.
struct PackedHeads {
  Bytes whole, query, key, repeated, table;
  bool repeats;

  PackedHeads(const ModelGraph& graph, const Operator& op) {
    const Tensor& x = graph.tensor(op.inputs[0]);
    const std::int64_t turned = op.attributes.get(attribute::k_turned), group = turned - 1;
    const std::int64_t kv_heads = x.shape[2] / op.attributes.get(attribute::k_head_dim) / (turned + 1);
    whole = x.bytes();
    key = whole / (kv_heads * (turned + 1)) * kv_heads;
    query = key * group;
    repeated = (graph.tensor(op.outputs[0]).bytes() - query) / 2;
    table = graph.tensor(op.inputs[1]).bytes() / 2;
    repeats = repeated != key;
  }
};

EagerSteps forward_steps(const PackedHeads& h) {
  EagerSteps steps;
  steps.make(h.key, h.key * 2);  // k
  if (h.repeats) {
    steps.make(h.key, h.key * 2);                // v
    steps.make(h.query, h.query * 2);            // q
    steps.make(h.repeated, h.key + h.repeated);  // k for each head of q
    steps.kernel(h.key + h.repeated);            // v, to be kept
    steps.give(h.key * 2);
  } else {
    steps.kernel(h.key * 2);  // v, to be kept
  }
  turn(steps, h.query, h.table, h.query);
  turn(steps, h.repeated, h.table, h.repeated);
  return steps;
}

// Whole rows of zeros with a part in them, added to what is there.
void place(EagerSteps& steps, Bytes whole, Bytes part) {
  steps.make(whole, whole);
  steps.kernel(part * 2);
  steps.give(part);
  steps.kernel(whole * 3);
  steps.give(whole);
}

EagerSteps backward_steps(const PackedHeads& h) {
  EagerSteps steps;
  steps.take(h.repeated);
  turn_back(steps, h.repeated, h.table, h.repeated);
  steps.take(h.query);
  turn_back(steps, h.query, h.table, h.query);
  if (h.repeats) {
    steps.make(h.key, h.repeated + h.key);  // v, summed over heads of q
    steps.make(h.key, h.repeated + h.key);  // k
    steps.give(h.repeated);
  }
  steps.kernel(h.whole);    // zeros
  steps.kernel(h.key * 2);  // v in them
  if (h.repeats) steps.give(h.key);
  place(steps, h.whole, h.key);
  place(steps, h.whole, h.query);
  return steps;
}

OperatorDescription describe_eager_packed_rope(const ModelGraph& graph, const Operator& op) {
  const PackedHeads heads(graph, op);
  OperatorDescription description;
  description.saved_inputs = 0b10;
  description.extras.push_back({"key_index", {1}, DType::int64});
  description.extras.push_back({"value_index", {1}, DType::int64});
  describe_forward(description, forward_steps(heads));
  describe_backward(description, backward_steps(heads));
  return description;
}

}  // namespace

extern const OperatorType k_eager_packed_rope{
    .name = "eager_packed_rope",
    .describe = describe_eager_packed_rope,
    .probe = &k_packed_rope_probe,
    .table_in_own_dtype = true,
    .autocast = AutocastRule::undescribed,  // q and k become float32, v does not
};

}  // namespace shardlab
