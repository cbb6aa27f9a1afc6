// A division, a tanh, a product: each a kernel of torch.
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>

#include "engine/execute/torch/operators/eager_parts.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  at::Tensor tanh = KeptExtras(arguments).find("tanh"), y = arguments.outputs[0];
  at::tanh_out(tanh, at::div(arguments.inputs[0], cap));
  multiply(tanh, cap, y);
}

void backward(const BackwardArguments& arguments) {
  at::Tensor dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  at::Tensor gradient = at::mul(arguments.output_gradients[0], cap);
  gradient = at::tanh_backward(gradient, KeptExtras(arguments).find("tanh"));
  at::div_out(dx, gradient, at::scalar_tensor(cap));
}

}  // namespace

extern const OperatorImplementation k_eager_soft_cap_implementation{forward, backward};

}  // namespace shardlab
