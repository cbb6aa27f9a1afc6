// Activations that compute step by step, as the modules of transformers do.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {

// soft_cap as transformers computes it (5.23, modeling_gemma2.py Gemma2ForCausalLM): a division, a tanh, a
// product. Attribute: cap.
//
// Keeps the tanh. The module has one variable for all that it computes: at most two of these tensors are
// there.

namespace {

OperatorDescription describe_eager_soft_cap(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Bytes bytes = x.bytes();
  OperatorDescription description;
  description.extras.push_back({"tanh", x.shape, x.dtype});
  EagerSteps forward, backward;
  forward.make(bytes, bytes * 2);
  forward.give_inputs();
  forward.give(bytes);
  forward.results_follow();
  forward.kernel(bytes * 2);
  forward.kernel(bytes * 2);
  backward.make(bytes, bytes * 2);
  backward.make(bytes, bytes * 3);
  backward.give(bytes);
  backward.give_kept();
  backward.results_follow();
  backward.kernel(bytes * 2);
  describe_forward(description, forward);
  describe_backward(description, backward);
  return description;
}

}  // namespace

extern const OperatorType k_eager_soft_cap{
    .name = "eager_soft_cap",
    .describe = describe_eager_soft_cap,
    .probe = &k_cap_probe,
};

}  // namespace shardlab
