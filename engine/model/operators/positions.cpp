// What tells positions apart: learned rows, and rotation.
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {

// y[b, p] = x[b, p] + table[p]: learned positions. Parameter: table [positions, width], of which the first
// `sequence` rows are used.
//
// Keeps nothing; x receives dy itself. Backward sums dy over the batch into the table's gradient, whose other
// rows it fills with zeros when nothing was accumulated before.

namespace {

OperatorDescription describe_add_positions(const ModelGraph& graph, const Operator& op) {
  const Tensor& y = graph.tensor(op.outputs[0]);
  const Parameter& table = graph.parameter(op.parameters[0]);
  const Bytes used = bytes_of(y.shape[1] * y.shape[2], y.dtype);
  OperatorDescription description;
  description.passed_gradients = 0b1;
  description.forward.push_back(memory_work(y.bytes() * 2 + used));
  if (table.requires_grad) {
    description.backward.push_back(memory_work(y.bytes() + bytes_of(table.elements(), y.dtype)));
    description.backward_workspace = bytes_of(y.shape[2], DType::float32);  // one row of sums
  }
  return description;
}

}  // namespace

extern const OperatorType k_add_positions{.name = "add_positions", .describe = describe_add_positions};

// Rotary position embedding of heads [batch, sequence, heads * head_dim], halves convention (element i pairs
// with i + half, as in transformers' rotate_half). Inputs: x, table (constant, model/constants.h). The
// table's width says how much of a head is turned: of head_dim elements the first 2 * half, the rest is
// copied. Attributes: head_dim; and for rows that hold more than what is turned (Falcon's q, k and v in one)
// turned and passed: of each turned + passed heads the first are turned, the others copied.
//
// Keeps nothing but the table; backward is the inverse rotation.

namespace {

OperatorDescription describe_rope(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_inputs = 0b10;
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_rope{
    .name = "rope",
    .describe = describe_rope,
    .probe = &k_rope_probe,
    .common = true,
    .make_eager = make_rope_eager,
};

}  // namespace shardlab
