// Operators that work element by element.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {

// y = a + b (residual), in the wider dtype of both. Keeps nothing; inputs of y's dtype receive dy itself,
// without a copy, a narrower one a cast of it.

namespace {

OperatorDescription describe_add(const ModelGraph& graph, const Operator& op) {
  const Tensor& y = graph.tensor(op.outputs[0]);
  OperatorDescription description;
  Bytes read;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const Tensor& input = graph.tensor(op.inputs[i]);
    read += input.bytes();
    if (input.dtype == y.dtype) {
      description.passed_gradients |= 1U << i;
    } else if (input.requires_grad) {
      description.backward.push_back(memory_work(y.bytes() + input.bytes()));
    }
  }
  description.forward.push_back(memory_work(read + y.bytes()));
  return description;
}

}  // namespace

extern const OperatorType k_add{
    .name = "add",
    .describe = describe_add,
    .probe = &k_sum_probe,
    .common = true,
};

// y = a b, element by element. Keeps each input for the other's gradient.

namespace {

OperatorDescription describe_multiply(const ModelGraph& graph, const Operator& op) {
  const bool of_a = graph.tensor(op.inputs[0]).requires_grad, of_b = graph.tensor(op.inputs[1]).requires_grad;
  const Bytes bytes = graph.tensor(op.outputs[0]).bytes();
  OperatorDescription description;
  description.saved_inputs = (of_b ? 0b01U : 0U) | (of_a ? 0b10U : 0U);
  description.forward.push_back(memory_work(bytes * 3));
  for (const bool wanted : {of_a, of_b}) {
    if (wanted) description.backward.push_back(memory_work(bytes * 3));
  }
  return description;
}

}  // namespace

extern const OperatorType k_multiply{
    .name = "multiply",
    .describe = describe_multiply,
    .probe = &k_gated_probe,
};

// y = x in another floating-point dtype, the one of the output tensor. Keeps nothing; backward converts dy
// back.
//
// Put into graphs by model/precision: at the borders of units whose dtypes differ.

namespace {

OperatorDescription describe_cast(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Bytes traffic = x.bytes() + graph.tensor(op.outputs[0]).bytes();
  OperatorDescription description;
  description.forward.push_back(memory_work(traffic));
  if (x.requires_grad) description.backward.push_back(memory_work(traffic));
  return description;
}

}  // namespace

extern const OperatorType k_cast{
    .name = "cast",
    .describe = describe_cast,
    .probe = &k_cast_probe,
    .common = true,
};

}  // namespace shardlab
