// Learned and rotary positions on any device.
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

// Workspace: one float32 row a position.

namespace {

// x receives the output's gradient itself.
void add_positions_backward(const BackwardArguments& arguments) {
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  if (!gradient.defined()) return;
  const at::Tensor& dy = arguments.output_gradients[0];
  const std::int64_t used = dy.size(1);
  if (!accumulate) gradient.narrow(0, used, gradient.size(0) - used).zero_();
  write({gradient.narrow(0, 0, used), accumulate}, at::sum(dy, {0}, /*keepdim=*/false, at::kFloat));
}

}  // namespace

extern const OperatorImplementation k_device_add_positions{k_add_positions_implementation.forward,
                                                           add_positions_backward};

// In float32, rounded once. Backward turns the other way. Workspace: a few float32 copies of half of what is
// turned.

namespace {

// [batch, sequence, groups, heads of a group, head_dim]: of each group the first heads are turned.
at::Tensor by_head(const Operator& op, const at::Tensor& x) {
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim), heads = x.size(2) / head_dim;
  const std::int64_t group =
      op.attributes.get_or(attribute::k_turned, 0) + op.attributes.get_or(attribute::k_passed, 0);
  return x.view({x.size(0), x.size(1), group == 0 ? 1 : heads / group, group == 0 ? heads : group, head_dim});
}

void rotate(const Operator& op, const at::Tensor& x, const at::Tensor& table, double direction,
            const at::Tensor& y) {
  const std::int64_t sequence = x.size(1), half = table.size(2);
  TORCH_CHECK(sequence <= table.size(1), "the rotary table has ", table.size(1), " positions, the sequence ",
              sequence);
  const at::Tensor from = by_head(op, x), to = by_head(op, y);
  const std::int64_t passed = op.attributes.get_or(attribute::k_passed, 0), turned = from.size(3) - passed;
  const at::Tensor angles = table.narrow(1, 0, sequence).view({2, 1, sequence, 1, 1, half});
  const at::Tensor cosine = angles.select(0, 0), sine = angles.select(0, 1).mul(direction);
  const at::Tensor heads = from.narrow(3, 0, turned), result = to.narrow(3, 0, turned);
  const at::Tensor a = heads.narrow(4, 0, half), b = heads.narrow(4, half, half);
  result.narrow(4, 0, half).copy_(at::mul(a, cosine).sub_(at::mul(b, sine)));
  result.narrow(4, half, half).copy_(at::mul(b, cosine).add_(at::mul(a, sine)));
  const std::int64_t rest = from.size(4) - 2 * half;
  if (rest > 0) result.narrow(4, 2 * half, rest).copy_(heads.narrow(4, 2 * half, rest));
  if (passed > 0) to.narrow(3, turned, passed).copy_(from.narrow(3, turned, passed));
}

void rope_forward(const ForwardArguments& arguments) {
  rotate(arguments.op, arguments.inputs[0], arguments.inputs[1], 1, arguments.outputs[0]);
}

void rope_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  rotate(arguments.op, arguments.output_gradients[0], arguments.saved_inputs[1], -1,
         arguments.input_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_device_rope{rope_forward, rope_backward};

}  // namespace shardlab
