// The balancing loss of routers added to the model's: y = loss + weight * experts * sum over experts of
// (assignments / rows) * (probabilities / rows). Inputs: the loss, and the sums that router_sums made of all
// layers. Attributes: weight; rows, of all layers together. transformers 5.23, load_balancing_loss_func and
// router_aux_loss_coef.
//
// Keeps the sums. The gradient of the first input is that of the result.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_router_loss(const ModelGraph& graph, const Operator& op) {
  const Tensor& sums = graph.tensor(op.inputs[1]);
  OperatorDescription description;
  description.passed_gradients = 0b01;
  description.saved_inputs = 0b10;
  description.forward.push_back(memory_work(sums.bytes()));
  if (sums.requires_grad) description.backward.push_back(memory_work(sums.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_router_loss{.name = "router_loss", .describe = describe_router_loss};

}  // namespace shardlab
