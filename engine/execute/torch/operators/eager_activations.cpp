// Activations that compute step by step, as the modules of transformers do.
#include <cmath>
#include <numbers>

#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>

#include "engine/execute/torch/operators/eager_parts.h"

namespace shardlab {

// A kernel of torch.

namespace {

void silu_forward(const ForwardArguments& arguments) {
  at::Tensor y = arguments.outputs[0];
  at::silu_out(y, arguments.inputs[0]);
}

void silu_backward(const BackwardArguments& arguments) {
  at::Tensor dx = arguments.input_gradients[0];
  if (dx.defined()) at::silu_backward_out(dx, arguments.output_gradients[0], arguments.saved_inputs[0]);
}

}  // namespace

extern const OperatorImplementation k_silu_implementation{silu_forward, silu_backward};

// Step by step as in transformers 5.23, activations.py NewGELUActivation, and backward as autograd runs it.

namespace {

constexpr double k_cubic = 0.044715;

double root_of_two_over_pi() {
  return std::sqrt(2 / std::numbers::pi);
}

void eager_gelu_new_forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const KeptExtras kept(arguments);
  at::Tensor half = kept.find("half"), tanh = kept.find("tanh"), shifted = kept.find("one_plus_tanh");
  multiply(x, 0.5, half);
  {
    at::Tensor inner = at::mul(at::pow(x, 3), k_cubic);
    inner = at::add(x, inner);
    inner = at::mul(inner, root_of_two_over_pi());
    at::tanh_out(tanh, inner);
  }
  add_number(tanh, 1, shifted);
  at::Tensor y = arguments.outputs[0];
  at::mul_out(y, half, shifted);
}

void eager_gelu_new_backward(const BackwardArguments& arguments) {
  at::Tensor dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  const at::Tensor &dy = arguments.output_gradients[0], &x = arguments.saved_inputs[0];
  const KeptExtras kept(arguments);
  const at::Tensor dhalf = at::mul(dy, kept.find("one_plus_tanh"));
  {
    at::Tensor dinner = at::mul(dy, kept.find("half"));
    dinner = at::tanh_backward(dinner, kept.find("tanh"));
    multiply(dinner, root_of_two_over_pi(), dx);
  }
  {
    const at::Tensor dcube = at::mul(dx, k_cubic), square = at::pow(x, 2), slope = at::mul(square, 3);
    dx.add_(at::mul(dcube, slope));
  }
  dx.add_(at::mul(dhalf, 0.5));
}

}  // namespace

extern const OperatorImplementation k_eager_gelu_new_implementation{eager_gelu_new_forward,
                                                                    eager_gelu_new_backward};

// A division, a tanh, a product: each a kernel of torch.

namespace {

void eager_soft_cap_forward(const ForwardArguments& arguments) {
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  at::Tensor tanh = KeptExtras(arguments).find("tanh"), y = arguments.outputs[0];
  at::tanh_out(tanh, at::div(arguments.inputs[0], cap));
  multiply(tanh, cap, y);
}

void eager_soft_cap_backward(const BackwardArguments& arguments) {
  at::Tensor dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  at::Tensor gradient = at::mul(arguments.output_gradients[0], cap);
  gradient = at::tanh_backward(gradient, KeptExtras(arguments).find("tanh"));
  at::div_out(dx, gradient, at::scalar_tensor(cap));
}

}  // namespace

extern const OperatorImplementation k_eager_soft_cap_implementation{eager_soft_cap_forward,
                                                                    eager_soft_cap_backward};

}  // namespace shardlab
