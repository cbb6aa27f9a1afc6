// gelu_new as transformers writes it down in Python (5.23, activations.py NewGELUActivation):
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), a kernel for each sign.
//
// Keeps x, 0.5 x, the tanh and 1 + tanh.
//
// Under torch.autocast, which has pow on its list for float32 (torch 2.11, ATen/autocast_mode.h), x in a
// narrower dtype is cast for the cube, type promotion makes all that comes after float32, and so is the
// result. Then the copy of x is kept in its place, and of the rest only 0.5 x is narrow.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

OperatorDescription describe_widened(const Tensor& x, const Tensor& y) {
  const Bytes narrow = x.bytes(), wide = y.bytes();
  OperatorDescription description;
  description.extras.push_back({"half", x.shape, x.dtype});
  for (const char* label : {"wide", "tanh", "one_plus_tanh"})
    description.extras.push_back({label, y.shape, y.dtype});

  EagerSteps forward;
  forward.result_follows(1);
  forward.kernel(narrow * 2);  // 0.5 x
  forward.result_follows(2);
  forward.kernel(narrow + wide);  // x in float32
  forward.make(wide, wide * 2);   // x^3
  forward.make(wide, wide * 2);   // times 0.044715
  forward.give(wide);
  forward.make(wide, wide * 2 + narrow);  // + x
  forward.give(wide);
  forward.make(wide, wide * 2);  // times sqrt(2 / pi)
  forward.give(wide);
  forward.result_follows(3);
  forward.kernel(wide * 2);  // tanh
  forward.give(wide);
  forward.result_follows(4);
  forward.kernel(wide * 2);  // 1 +
  forward.result_follows(0);
  forward.kernel(wide * 2 + narrow);  // the product
  describe_forward(description, forward);

  // The engine of autograd casts each gradient to the dtype of what it is the gradient of.
  EagerSteps backward;
  backward.make(wide, wide * 3);           // the gradient of 0.5 x
  backward.make(wide, wide * 2 + narrow);  // the gradient of 1 + tanh
  backward.make(narrow, wide + narrow);
  backward.give(wide);
  backward.make(wide, wide * 3);  // through tanh
  backward.give(wide);
  backward.make(wide, wide * 2);  // times sqrt(2 / pi)
  backward.give(wide);
  backward.kernel(wide + narrow);  // the first part of x's gradient
  backward.make(wide, wide * 2);   // times 0.044715
  backward.give(wide);
  backward.make(wide, wide * 2);  // x^2
  backward.make(wide, wide * 2);  // times 3
  backward.give(wide);
  backward.make(wide, wide * 3);  // the second part
  backward.give(wide * 2);
  backward.make(narrow, wide + narrow);
  backward.give(wide);
  backward.kernel(narrow * 3);  // their sum
  backward.give(narrow);
  backward.make(narrow, narrow * 2);  // the third part
  backward.kernel(narrow * 3);
  describe_backward(description, backward);
  return description;
}

OperatorDescription describe_eager_gelu_new(const ModelGraph& graph, const Operator& op) {
  const Tensor &x = graph.tensor(op.inputs[0]), &y = graph.tensor(op.outputs[0]);
  if (x.dtype != y.dtype) return describe_widened(x, y);
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
    .autocast = AutocastRule::widens,  // the cube is in float32
};

}  // namespace shardlab
