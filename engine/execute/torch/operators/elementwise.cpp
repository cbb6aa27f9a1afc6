// Operators that work element by element. Workspace: none.
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

namespace {

void add_forward(const ForwardArguments& arguments) {
  at::Tensor sum = arguments.outputs[0];
  at::add_out(sum, arguments.inputs[0], arguments.inputs[1]);
}

// Both inputs receive the output's gradient itself.
void add_backward(const BackwardArguments&) {}

}  // namespace

extern const OperatorImplementation k_add_implementation{add_forward, add_backward};

namespace {

void multiply_forward(const ForwardArguments& arguments) {
  at::Tensor product = arguments.outputs[0];
  at::mul_out(product, arguments.inputs[0], arguments.inputs[1]);
}

void multiply_backward(const BackwardArguments& arguments) {
  const at::Tensor& dy = arguments.output_gradients[0];
  for (const std::size_t input : {0, 1}) {
    at::Tensor gradient = arguments.input_gradients[input];
    if (gradient.defined()) at::mul_out(gradient, dy, arguments.saved_inputs[1 - input]);
  }
}

}  // namespace

extern const OperatorImplementation k_multiply_implementation{multiply_forward, multiply_backward};

// Conversion of the element type by ATen. Workspace: none.

namespace {

void cast_forward(const ForwardArguments& arguments) {
  arguments.outputs[0].copy_(arguments.inputs[0]);
}

void cast_backward(const BackwardArguments& arguments) {
  if (arguments.input_gradients[0].defined())
    arguments.input_gradients[0].copy_(arguments.output_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_cast_implementation{cast_forward, cast_backward};

}  // namespace shardlab
