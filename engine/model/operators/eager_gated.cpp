// swiglu and geglu as the transformers modules compute them (5.23, modeling_llama.py LlamaMLP): the
// activation of the gate, then its product with up. Inputs of swiglu and geglu; attribute `tanh` of gelu.
//
// Keeps the gate for the activation; up and the activated gate for each other's gradient.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

OperatorDescription describe_eager_gated(const ModelGraph& graph, const Operator& op) {
  const Tensor& gate = graph.tensor(op.inputs[0]);
  const bool of_up = graph.tensor(op.inputs[1]).requires_grad;
  const Bytes bytes = gate.bytes();
  OperatorDescription description;
  description.saved_inputs = gate.requires_grad ? 0b11 : 0;
  if (of_up) description.extras.push_back({"activated", gate.shape, gate.dtype});

  EagerSteps forward, backward;
  if (!of_up) forward.take(bytes);
  forward.kernel(bytes * 2);
  forward.kernel(bytes * 3);
  if (gate.requires_grad) backward.make(bytes, bytes * 3);
  if (of_up) backward.kernel(bytes * 3);
  if (gate.requires_grad) backward.kernel(bytes * 3);
  describe_forward(description, forward);
  describe_backward(description, backward);
  return description;
}

}  // namespace

extern const OperatorType k_eager_geglu{
    .name = "eager_geglu",
    .describe = describe_eager_gated,
    .probe = &k_gated_probe,
};
extern const OperatorType k_eager_swiglu{
    .name = "eager_swiglu",
    .describe = describe_eager_gated,
    .probe = &k_gated_probe,
};

}  // namespace shardlab
