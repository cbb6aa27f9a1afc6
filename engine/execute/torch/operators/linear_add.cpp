// Matrix products by ATen on two-dimensional views, scaled and added by the product itself.
#include <ATen/ops/addmm.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

at::Tensor as_matrix(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

double scale_of(const Operator& op) {
  return op.attributes.get(attribute::k_scale);
}

void forward(const ForwardArguments& arguments) {
  at::Tensor y = as_matrix(arguments.outputs[0]);
  at::addmm_out(y, as_matrix(arguments.inputs[0]), as_matrix(arguments.inputs[1]),
                arguments.parameters[0].t(), 1, scale_of(arguments.op));
}

// A factor of 0 for what is there means that it is not read.
void backward(const BackwardArguments& arguments) {
  const at::Tensor dy = as_matrix(arguments.output_gradients[0]);
  const double scale = scale_of(arguments.op);
  if (arguments.input_gradients[1].defined()) {
    at::Tensor dx = as_matrix(arguments.input_gradients[1]);
    at::addmm_out(dx, dx, dy, arguments.parameters[0], 0, scale);
  }
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  if (!weight.gradient.defined()) return;
  at::Tensor dw = weight.gradient;
  at::addmm_out(dw, dw, dy.t(), as_matrix(arguments.saved_inputs[1]), weight.accumulate ? 1 : 0, scale);
}

}  // namespace

extern const OperatorImplementation k_linear_add_implementation{forward, backward};

}  // namespace shardlab
