// y = cap * tanh(x / cap) (Gemma 2's logits). Attribute: cap.
//
// Keeps y, from which the slope follows: 1 - (y / cap)^2.
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_soft_cap(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_outputs = 0b1;
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_soft_cap{
    .name = "soft_cap",
    .describe = describe_soft_cap,
    .probe = &k_cap_probe,
    .eager_type = &k_eager_soft_cap,
};

}  // namespace shardlab
