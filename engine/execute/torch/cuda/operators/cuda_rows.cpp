// Operators over rows by our own kernels.
#include <ATen/ops/empty.h>

#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

// Workspace: backward the float32 sums of parts of rows for the weight's gradient.

namespace {

float epsilon(const Operator& op) {
  return static_cast<float>(op.attributes.get(attribute::k_epsilon));
}
float offset(const Operator& op) {
  return static_cast<float>(op.attributes.get_or(attribute::k_offset, 0));
}

void rms_norm_forward(const ForwardArguments& arguments) {
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

void rms_norm_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_cuda_rms_norm{rms_norm_forward, rms_norm_backward};

// Workspace: none. Backward turns the other way.

namespace {

kernels::RotaryLayout layout_of(const Operator& op, std::int64_t width, std::int64_t half) {
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim), heads = width / head_dim;
  const std::int64_t turned = op.attributes.get_or(attribute::k_turned, 0),
                     passed = op.attributes.get_or(attribute::k_passed, 0);
  if (turned == 0) return {1, heads, 0, head_dim, half};
  return {heads / (turned + passed), turned, passed, head_dim, half};
}

// `table` [2, positions, half]: cosines, then sines.
void rotate(const Operator& op, const at::Tensor& x, const at::Tensor& table, float direction,
            const at::Tensor& y) {
  const std::int64_t sequence = x.size(1), width = x.size(2), half = table.size(2);
  TORCH_CHECK(sequence <= table.size(1), "the rotary table has ", table.size(1), " positions, the sequence ",
              sequence);
  const auto* cosines = pointer<const float>(table);
  launch_for(x, [&](auto element, kernels::Stream stream) {
    using T = decltype(element);
    kernels::launch_rotary(stream, pointer<const T>(x), pointer<T>(y), cosines,
                           cosines + table.size(1) * half, layout_of(op, width, half), x.numel() / width,
                           sequence, direction);
  });
}

void rope_forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  if (!kernels_take(x.scalar_type(), {arguments.inputs, arguments.outputs}))
    return k_device_rope.forward(arguments);
  rotate(arguments.op, x, arguments.inputs[1], 1, arguments.outputs[0]);
}

void rope_backward(const BackwardArguments& arguments) {
  const at::Tensor &dy = arguments.output_gradients[0], &dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  if (!kernels_take(dy.scalar_type(), {{&dy, 1}, {&dx, 1}, arguments.saved_inputs}))
    return k_device_rope.backward(arguments);
  rotate(arguments.op, dy, arguments.saved_inputs[1], -1, dx);
}

}  // namespace

extern const OperatorImplementation k_cuda_rope{rope_forward, rope_backward};

// Workspace: none.

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

void swiglu_forward(const ForwardArguments& arguments) {
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

void swiglu_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_cuda_swiglu{swiglu_forward, swiglu_backward};

}  // namespace shardlab
