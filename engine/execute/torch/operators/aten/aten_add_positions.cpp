// Workspace: one float32 row a position.
#include <ATen/ops/add.h>
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

// x receives the output's gradient itself.
void backward(const BackwardArguments& arguments) {
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  if (!gradient.defined()) return;
  const at::Tensor& dy = arguments.output_gradients[0];
  const std::int64_t used = dy.size(1);
  if (!accumulate) gradient.narrow(0, used, gradient.size(0) - used).zero_();
  write({gradient.narrow(0, 0, used), accumulate}, at::sum(dy, {0}, /*keepdim=*/false, at::kFloat));
}

}  // namespace

extern const OperatorImplementation k_device_add_positions{k_add_positions_implementation.forward, backward};

}  // namespace shardlab
