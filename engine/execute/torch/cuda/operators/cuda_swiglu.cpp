// Workspace: none.
#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/cuda/operators/kernel_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

// Gate and up: in two tensors, or one behind the other in rows of one, which are as wide as two of y's.
template <typename T>
struct GateAndUp {
  T *gate, *up;
  std::int64_t stride;

  GateAndUp(std::span<const at::Tensor> tensors, std::int64_t width) {
    gate = pointer<T>(tensors[0]);
    const bool packed = tensors.size() == 1;
    up = !packed ? pointer<T>(tensors[1]) : gate ? gate + width : nullptr;
    stride = packed ? 2 * width : width;
  }
};

void forward(const ForwardArguments& arguments) {
  const at::Tensor& y = arguments.outputs[0];
  if (!kernels_take(y.scalar_type(), {arguments.inputs, arguments.outputs}))
    return k_device_swiglu.forward(arguments);
  const std::int64_t width = y.size(-1);
  launch_for(y, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    const GateAndUp<const T> in(arguments.inputs, width);
    kernels::launch_swiglu(stream, in.gate, in.up, pointer<T>(y), y.numel() / width, width, in.stride);
  });
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor& dy = arguments.output_gradients[0];
  if (!kernels_take(dy.scalar_type(),
                    {arguments.output_gradients, arguments.saved_inputs, arguments.input_gradients}))
    return k_device_swiglu.backward(arguments);
  const std::int64_t width = dy.size(-1);
  launch_for(dy, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    const GateAndUp<const T> in(arguments.saved_inputs, width);
    const GateAndUp<T> gradients(arguments.input_gradients, width);
    kernels::launch_swiglu_backward(stream, pointer<const T>(dy), in.gate, in.up, gradients.gate,
                                    gradients.up, dy.numel() / width, width, in.stride);
  });
}

}  // namespace

extern const OperatorImplementation k_cuda_swiglu{forward, backward};

}  // namespace shardlab
