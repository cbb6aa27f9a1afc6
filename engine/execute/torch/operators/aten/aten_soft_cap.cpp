// Workspace: two float32 copies of a piece.
#include <ATen/ops/div.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  const at::Tensor x = as_rows(arguments.inputs[0]), y = as_rows(arguments.outputs[0]);
  in_pieces(x.size(0), x.size(1), [&](std::int64_t first, std::int64_t count) {
    y.narrow(0, first, count).copy_(in_float(x.narrow(0, first, count)).div(cap).tanh_().mul_(cap));
  });
}

// The slope of cap tanh(x / cap) is 1 - (y / cap)^2.
void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  const at::Tensor y = as_rows(arguments.saved_outputs[0]), dy = as_rows(arguments.output_gradients[0]);
  const at::Tensor dx = as_rows(arguments.input_gradients[0]);
  in_pieces(y.size(0), y.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor share = in_float(y.narrow(0, first, count)).div(cap);
    dx.narrow(0, first, count).copy_(share.square_().neg_().add_(1).mul_(dy.narrow(0, first, count)));
  });
}

}  // namespace

extern const OperatorImplementation k_device_soft_cap{forward, backward};

}  // namespace shardlab
