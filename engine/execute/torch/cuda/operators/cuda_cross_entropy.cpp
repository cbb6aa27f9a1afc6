// The mean of float32 rows in double. Workspace: a float32 a row.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mean.h>

#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor &logits = arguments.inputs[0], &sums = arguments.extras[0];
  if (!kernels_take(logits.scalar_type(), {arguments.inputs, arguments.extras}))
    return k_device_cross_entropy.forward(arguments);
  const at::Tensor losses = at::empty_like(sums);
  const std::int64_t classes = logits.size(-1);
  launch_for(logits, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    kernels::launch_cross_entropy(stream, pointer<const T>(logits),
                                  pointer<const std::int64_t>(arguments.inputs[1]), logits.numel() / classes,
                                  classes, /*scale=*/1, pointer<float>(losses), pointer<float>(sums),
                                  static_cast<T*>(nullptr));
  });
  arguments.outputs[0].copy_(at::mean(losses, at::kDouble));
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor &logits = arguments.saved_inputs[0], &gradient = arguments.input_gradients[0];
  if (!gradient.defined()) return;
  if (!kernels_take(logits.scalar_type(), {arguments.saved_inputs, {&gradient, 1}, arguments.extras}))
    return k_device_cross_entropy.backward(arguments);
  const std::int64_t classes = logits.size(-1), rows = logits.numel() / classes;
  const auto scale = static_cast<float>(arguments.seed / static_cast<double>(rows));
  launch_for(logits, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    kernels::launch_cross_entropy_backward(
        stream, pointer<const T>(logits), pointer<const std::int64_t>(arguments.saved_inputs[1]),
        pointer<const float>(arguments.extras[0]), rows, classes, scale, pointer<T>(gradient));
  });
}

}  // namespace

extern const OperatorImplementation k_cuda_cross_entropy{forward, backward};

}  // namespace shardlab
