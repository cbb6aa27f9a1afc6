// ATen's own, which computes in float32 whatever the element type. Workspace: none.
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>

#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

std::string_view form_of(const Operator& op) {
  return op.attributes.get_or(attribute::k_tanh, false) ? "tanh" : "none";
}

void forward(const ForwardArguments& arguments) {
  at::Tensor y = arguments.outputs[0];
  at::gelu_out(y, arguments.inputs[0], form_of(arguments.op));
}

void backward(const BackwardArguments& arguments) {
  at::Tensor dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  at::gelu_backward_out(dx, arguments.output_gradients[0], arguments.saved_inputs[0], form_of(arguments.op));
}

}  // namespace

extern const OperatorImplementation k_device_gelu{forward, backward};

}  // namespace shardlab
