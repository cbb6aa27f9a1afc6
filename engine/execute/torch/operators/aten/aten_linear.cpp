// Workspace: one float32 row for the bias' gradient.
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/linear_products.h"

namespace shardlab {
namespace {

void backward(const BackwardArguments& arguments) {
  linear_gradients(arguments);
  if (arguments.parameter_gradients.size() < 2 || !arguments.parameter_gradients[1].gradient.defined())
    return;
  const at::Tensor dy = as_rows(arguments.output_gradients[0]);
  write(arguments.parameter_gradients[1], at::sum(dy, {0}, /*keepdim=*/false, at::kFloat));
}

}  // namespace

extern const OperatorImplementation k_device_linear{linear_forward, backward};

}  // namespace shardlab
