// ATen's own kernels, which return tensors of theirs. Workspace: a copy of the output, or of the gradients.
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

at::Tensor bias_of(std::span<const at::Tensor> parameters) {
  return parameters.size() > 1 ? widened_on_host(parameters[1]) : at::Tensor();
}

void forward(const ForwardArguments& arguments) {
  const std::int64_t width = arguments.parameters[0].numel();
  const at::Tensor y = as_rows(arguments.outputs[0], width);
  const auto [made, mean, reciprocal] = at::native_layer_norm(
      widened_on_host(as_rows(arguments.inputs[0], width)), {width}, widened_on_host(arguments.parameters[0]),
      bias_of(arguments.parameters), arguments.op.attributes.get(attribute::k_epsilon));
  y.copy_(made);
  arguments.extras[0].copy_(mean.view(-1));
  arguments.extras[1].copy_(reciprocal.view(-1));
}

void backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_device_layer_norm{forward, backward};

}  // namespace shardlab
