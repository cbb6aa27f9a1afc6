// Operators that work element by element and keep nothing.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {

// y = a + b (residual). Keeps nothing; both inputs receive dy itself, without a copy.

namespace {

OperatorDescription describe_add(const ModelGraph& graph, const Operator& op) {
  OperatorDescription description;
  description.passed_gradients = 0b11;
  description.forward.push_back(memory_work(graph.tensor(op.outputs[0]).bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_add{
    .name = "add",
    .describe = describe_add,
    .probe = &k_sum_probe,
    .common = true,
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
