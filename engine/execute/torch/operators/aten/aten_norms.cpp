// Norms over rows on any device.
#include <ATen/ops/mul.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

// ATen's own kernels, which return tensors of theirs. Workspace: a copy of the output, or of the gradients.

namespace {

at::Tensor bias_of(std::span<const at::Tensor> parameters) {
  return parameters.size() > 1 ? widened_on_host(parameters[1]) : at::Tensor();
}

void layer_norm_forward(const ForwardArguments& arguments) {
  const std::int64_t width = arguments.parameters[0].numel();
  const at::Tensor y = as_rows(arguments.outputs[0], width);
  const auto [made, mean, reciprocal] = at::native_layer_norm(
      widened_on_host(as_rows(arguments.inputs[0], width)), {width}, widened_on_host(arguments.parameters[0]),
      bias_of(arguments.parameters), arguments.op.attributes.get(attribute::k_epsilon));
  y.copy_(made);
  arguments.extras[0].copy_(mean.view(-1));
  arguments.extras[1].copy_(reciprocal.view(-1));
}

void layer_norm_backward(const BackwardArguments& arguments) {
  const std::int64_t width = arguments.parameters[0].numel();
  const at::Tensor dx = as_rows(arguments.input_gradients[0], width);
  const auto& gradients = arguments.parameter_gradients;
  const bool biased = gradients.size() > 1;
  const std::array<bool, 3> wanted{dx.defined(), gradients[0].gradient.defined(),
                                   biased && gradients[1].gradient.defined()};
  const auto [made, weight, bias] = at::native_layer_norm_backward(
      widened_on_host(as_rows(arguments.output_gradients[0], width)),
      widened_on_host(as_rows(arguments.saved_inputs[0], width)), {width}, arguments.extras[0].view({-1, 1}),
      arguments.extras[1].view({-1, 1}), widened_on_host(arguments.parameters[0]),
      bias_of(arguments.parameters), wanted);
  if (wanted[0]) dx.copy_(made);
  if (wanted[1]) write(gradients[0], weight);
  if (wanted[2]) write(gradients[1], bias);
}

}  // namespace

extern const OperatorImplementation k_device_layer_norm{layer_norm_forward, layer_norm_backward};

// In float32, a piece at a time, rounded once. Workspace: a few float32 copies of a piece, and the float32
// sums of the weight's gradient.

namespace {

at::Tensor weight_of(const Operator& op, const at::Tensor& weight) {
  return in_float(weight).add(op.attributes.get_or(attribute::k_offset, 0));
}

void rms_norm_forward(const ForwardArguments& arguments) {
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
void rms_norm_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_device_rms_norm{rms_norm_forward, rms_norm_backward};

}  // namespace shardlab
