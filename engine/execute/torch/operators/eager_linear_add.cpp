// What an adapter adds to its layer, step by step, by ATen on two-dimensional views.
#include <ATen/ops/empty_like.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/products.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

at::Tensor multiple_of(const at::Tensor& tensor, const Operator& op) {
  at::Tensor multiple = at::empty_like(tensor);
  multiply(tensor, op.attributes.get(attribute::k_scale), multiple);
  return multiple;
}

void eager_linear_add_forward(const ForwardArguments& arguments) {
  at::Tensor y = as_matrix(arguments.outputs[0]);
  product(y, as_matrix(arguments.inputs[1]), arguments.parameters[0].t());
  at::add_out(y, as_matrix(arguments.inputs[0]), multiple_of(y, arguments.op));
}

void eager_linear_add_backward(const BackwardArguments& arguments) {
  const at::Tensor scaled = multiple_of(as_matrix(arguments.output_gradients[0]), arguments.op);
  if (arguments.input_gradients[1].defined()) {
    const at::Tensor dx = as_matrix(arguments.input_gradients[1]);
    product(dx, scaled, arguments.parameters[0]);
  }
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  if (!weight.gradient.defined()) return;
  const at::Tensor x = as_matrix(arguments.saved_inputs[1]);
  const at::Tensor& dw = weight.gradient;
  if (weight.accumulate) {
    add_product(dw, dw, scaled.t(), x);
  } else {
    product(dw, scaled.t(), x);
  }
}

}  // namespace

extern const OperatorImplementation k_eager_linear_add_implementation{eager_linear_add_forward,
                                                                      eager_linear_add_backward};

}  // namespace shardlab
