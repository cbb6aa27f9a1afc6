// Draws the mask in forward, applies it in both directions. Workspace: none.
#include <ATen/ops/empty.h>

#include "engine/execute/torch/operators/random_mask.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const at::Tensor mask =
      arguments.extras.empty() ? at::empty(x.sizes(), x.options().dtype(at::kByte)) : arguments.extras[0];
  const double dropped = arguments.op.attributes.get(attribute::k_dropout);
  draw_mask(dropped, arguments.seeds, mask);
  apply_mask(dropped, x, mask, arguments.outputs[0]);
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor& dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  const double dropped = arguments.op.attributes.get(attribute::k_dropout);
  apply_mask(dropped, arguments.output_gradients[0], arguments.extras[0], dx);
}

}  // namespace

extern const OperatorImplementation k_dropout_implementation{forward, backward};

}  // namespace shardlab
