// In float32, a piece at a time, rounded once. Workspace: a few float32 copies of a piece, and the float32
// sums of the weight's gradient.
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

at::Tensor weight_of(const Operator& op, const at::Tensor& weight) {
  return in_float(weight).add(op.attributes.get_or(attribute::k_offset, 0));
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor weight = weight_of(arguments.op, arguments.parameters[0]);
  const double epsilon = arguments.op.attributes.get(attribute::k_epsilon);
  const std::int64_t width = weight.numel();
  const at::Tensor x = as_rows(arguments.inputs[0], width), y = as_rows(arguments.outputs[0], width);
  in_pieces(x.size(0), width, [&](std::int64_t first, std::int64_t count) {
    const at::Tensor piece = in_float(x.narrow(0, first, count));
    const at::Tensor reciprocal = arguments.extras[0].narrow(0, first, count);
    reciprocal.copy_(at::mul(piece, piece).mean(-1).add_(epsilon).rsqrt_());
    y.narrow(0, first, count).copy_(at::mul(piece, reciprocal.unsqueeze(1)).mul_(weight));
  });
}

// With z = x r and g = dy w: dx = r (g - z mean(g z)), dw = sum over rows of dy z.
void backward(const BackwardArguments& arguments) {
  const at::Tensor weight = weight_of(arguments.op, arguments.parameters[0]);
  const ParameterGradient& wanted = arguments.parameter_gradients[0];
  const std::int64_t width = weight.numel();
  const at::Tensor x = as_rows(arguments.saved_inputs[0], width);
  const at::Tensor dy = as_rows(arguments.output_gradients[0], width);
  const at::Tensor dx = as_rows(arguments.input_gradients[0], width);
  const at::Tensor sums = at::zeros({width}, weight.options());
  in_pieces(x.size(0), width, [&](std::int64_t first, std::int64_t count) {
    const at::Tensor reciprocal = arguments.extras[0].narrow(0, first, count).unsqueeze(1);
    const at::Tensor z = at::mul(x.narrow(0, first, count), reciprocal);
    const at::Tensor products = at::mul(z, dy.narrow(0, first, count));
    if (wanted.gradient.defined()) sums.add_(products.sum(0));
    if (!dx.defined()) return;
    const at::Tensor along = at::mul(products, weight).mean(-1, /*keepdim=*/true);
    const at::Tensor direct = at::mul(dy.narrow(0, first, count), weight);
    dx.narrow(0, first, count).copy_(direct.sub_(at::mul(z, along)).mul_(reciprocal));
  });
  if (wanted.gradient.defined()) write(wanted, sums);
}

}  // namespace

extern const OperatorImplementation k_device_rms_norm{forward, backward};

}  // namespace shardlab
