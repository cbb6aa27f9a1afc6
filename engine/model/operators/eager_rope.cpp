// rope as the transformers modules compute it (5.23, modeling_llama.py apply_rotary_pos_emb): x cos +
// rotate_half(x) sin, with rotate_half a negation and a concatenation. Where a part of each head is turned
// (modeling_phi.py), that part is taken out and put together with the rest again. Inputs: x; a constant [2,
// positions, turned elements] in x's dtype, cosines and sines of both halves (attribute `halves` of
// model/constants.h). Attribute: head_dim.
//
// Keeps nothing but the table. Backward as autograd has it: of each slice a whole tensor of zeros.
#include "engine/model/operators/eager_turn.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

struct Turn {
  Bytes whole, turned, table;
  bool partial;
};

EagerSteps forward_steps(const Turn& t) {
  EagerSteps steps;
  if (!t.partial) {
    turn(steps, t.turned, t.table);
    return steps;
  }
  turn_products(steps, t.turned, t.table);
  steps.make(t.turned, t.turned * 3);  // the sum apart
  steps.give(t.turned * 2);
  steps.kernel(t.whole * 2);
  return steps;
}

EagerSteps backward_steps(const Turn& t) {
  EagerSteps steps;
  if (t.partial) steps.take(t.turned);
  turn_back(steps, t.turned, t.table);
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
  const Turn turn{x.bytes(), x.bytes() / head_dim * turned, table.bytes() / 2, turned < head_dim};
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
};

}  // namespace shardlab
