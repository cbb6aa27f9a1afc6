// Activations that compute step by step, as the modules of transformers do.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {

// gelu_new as transformers writes it down in Python (5.23, activations.py NewGELUActivation):
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), a kernel for each sign.
//
// Keeps x, 0.5 x, the tanh and 1 + tanh.

namespace {

OperatorDescription describe_eager_gelu_new(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Bytes bytes = x.bytes();
  OperatorDescription description;
  description.saved_inputs = 0b1;
  for (const char* label : {"half", "tanh", "one_plus_tanh"})
    description.extras.push_back({label, x.shape, x.dtype});

  EagerSteps forward;
  forward.result_follows(1);
  forward.kernel(bytes * 2);           // 0.5 x
  forward.make(bytes, bytes * 2);      // x^3
  for (const int reads : {1, 2, 1}) {  // times 0.044715, + x, times sqrt(2 / pi)
    forward.make(bytes, bytes * (reads + 1));
    forward.give(bytes);
  }
  forward.result_follows(2);
  forward.kernel(bytes * 2);  // tanh
  forward.give(bytes);
  forward.result_follows(3);
  forward.kernel(bytes * 2);  // 1 +
  forward.result_follows(0);
  forward.kernel(bytes * 3);  // the product
  describe_forward(description, forward);

  EagerSteps backward;
  backward.make(bytes, bytes * 3);  // the gradient of 0.5 x
  backward.make(bytes, bytes * 3);  // the gradient of 1 + tanh
  backward.make(bytes, bytes * 3);  // through tanh
  backward.give(bytes);
  backward.kernel(bytes * 2);  // times sqrt(2 / pi): the first part of x's gradient
  backward.give(bytes);
  backward.make(bytes, bytes * 2);  // times 0.044715
  backward.make(bytes, bytes * 2);  // x^2
  backward.make(bytes, bytes * 2);  // times 3
  backward.make(bytes, bytes * 3);  // the second part
  backward.give(bytes * 3);
  backward.kernel(bytes * 3);  // their sum
  backward.give(bytes);
  backward.make(bytes, bytes * 2);  // the third part
  backward.kernel(bytes * 3);
  describe_backward(description, backward);
  return description;
}

}  // namespace

extern const OperatorType k_eager_gelu_new{
    .name = "eager_gelu_new",
    .describe = describe_eager_gelu_new,
    .probe = &k_row_probe,
    .autocast = AutocastRule::undescribed,  // the cube is in float32
};

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
