// Workspace: none. Backward turns the other way.
#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/cuda/operators/kernel_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
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

void forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  if (!kernels_take(x.scalar_type(), {arguments.inputs, arguments.outputs}))
    return k_device_rope.forward(arguments);
  rotate(arguments.op, x, arguments.inputs[1], 1, arguments.outputs[0]);
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor &dy = arguments.output_gradients[0], &dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  if (!kernels_take(dy.scalar_type(), {{&dy, 1}, {&dx, 1}, arguments.saved_inputs}))
    return k_device_rope.backward(arguments);
  rotate(arguments.op, dy, arguments.saved_inputs[1], -1, dx);
}

}  // namespace

extern const OperatorImplementation k_cuda_rope{forward, backward};

}  // namespace shardlab
