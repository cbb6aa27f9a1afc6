// y = x in another floating-point dtype, the one of the output tensor. Keeps nothing; backward converts dy
// back.
//
// Put into graphs by model/precision: at the borders of units whose dtypes differ.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
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
