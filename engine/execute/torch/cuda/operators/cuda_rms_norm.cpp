// Workspace: backward the float32 sums of parts of rows for the weight's gradient.
#include <ATen/ops/empty.h>

#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/cuda/operators/kernel_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

float epsilon(const Operator& op) {
  return static_cast<float>(op.attributes.get(attribute::k_epsilon));
}
float offset(const Operator& op) {
  return static_cast<float>(op.attributes.get_or(attribute::k_offset, 0));
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor &x = arguments.inputs[0], &weight = arguments.parameters[0];
  if (!kernels_take(x.scalar_type(), {arguments.inputs, arguments.parameters, arguments.outputs}))
    return k_device_rms_norm.forward(arguments);
  const std::int64_t width = weight.numel();
  launch_for(x, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    kernels::launch_rms_norm(stream, pointer<const T>(x), pointer<const T>(weight),
                             pointer<T>(arguments.outputs[0]), pointer<float>(arguments.extras[0]),
                             x.numel() / width, width, epsilon(arguments.op), offset(arguments.op));
  });
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor &x = arguments.saved_inputs[0], &weight = arguments.parameters[0];
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  if (!kernels_take(x.scalar_type(), {arguments.saved_inputs,
                                      arguments.parameters,
                                      arguments.output_gradients,
                                      arguments.input_gradients,
                                      {&gradient, 1}}))
    return k_device_rms_norm.backward(arguments);
  const std::int64_t width = weight.numel(), rows = x.numel() / width, parts = kernels::rms_norm_parts(rows);
  at::Tensor sums;
  if (gradient.defined()) sums = at::empty({parts, width}, x.options().dtype(at::kFloat));
  launch_for(x, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    kernels::launch_rms_norm_backward(
        stream, pointer<const T>(arguments.output_gradients[0]), pointer<const T>(x),
        pointer<const T>(weight), pointer<const float>(arguments.extras[0]),
        pointer<T>(arguments.input_gradients[0]), pointer<float>(sums), rows, width, offset(arguments.op));
    if (sums.defined())
      kernels::launch_sum_parts(stream, pointer<const float>(sums), parts, width, accumulate,
                                pointer<T>(gradient));
  });
}

}  // namespace

extern const OperatorImplementation k_cuda_rms_norm{forward, backward};

}  // namespace shardlab
