// Conversion of the element type by ATen. Workspace: none.
#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  arguments.outputs[0].copy_(arguments.inputs[0]);
}

void backward(const BackwardArguments& arguments) {
  if (arguments.input_gradients[0].defined())
    arguments.input_gradients[0].copy_(arguments.output_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_cast_implementation{forward, backward};

}  // namespace shardlab
