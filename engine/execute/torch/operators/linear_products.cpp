#include "engine/execute/torch/operators/linear_products.h"

#include "engine/execute/torch/operators/products.h"

namespace shardlab {
namespace {

at::Tensor as_matrix(const at::Tensor& tensor) {
  return tensor.view({-1, tensor.size(-1)});
}

// Stored as [in, out].
bool is_transposed(const Operator& op) {
  return op.attributes.get_or(attribute::k_transposed, false);
}

void weight_gradient(const BackwardArguments& arguments, const at::Tensor& dy) {
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  const at::Tensor x = as_matrix(arguments.saved_inputs[0]);
  const bool transposed = is_transposed(arguments.op);
  const at::Tensor left = transposed ? x.t() : dy.t();
  const at::Tensor& right = transposed ? dy : x;
  const at::Tensor& dw = gradient;
  if (accumulate) {
    add_product(dw, dw, left, right);
  } else {
    product(dw, left, right);
  }
}

}  // namespace

void linear_forward(const ForwardArguments& arguments) {
  const at::Tensor x = as_matrix(arguments.inputs[0]);
  const at::Tensor y = as_matrix(arguments.outputs[0]);
  const at::Tensor& stored = arguments.parameters[0];
  const at::Tensor weight = is_transposed(arguments.op) ? stored : stored.t();
  if (arguments.parameters.size() > 1) {
    add_product(y, arguments.parameters[1], x, weight);
  } else {
    product(y, x, weight);
  }
}

void linear_gradients(const BackwardArguments& arguments) {
  const at::Tensor dy = as_matrix(arguments.output_gradients[0]);
  if (arguments.input_gradients[0].defined()) {
    const at::Tensor dx = as_matrix(arguments.input_gradients[0]);
    const at::Tensor& weight = arguments.parameters[0];
    product(dx, dy, is_transposed(arguments.op) ? weight.t() : weight);
  }
  if (arguments.parameter_gradients[0].gradient.defined()) weight_gradient(arguments, dy);
}

}  // namespace shardlab
