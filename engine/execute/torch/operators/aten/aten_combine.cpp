// Sums in float32, in order of slots. Workspace: a few float32 copies of y.
#include <ATen/ops/index_select.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

at::Tensor results_of(const at::Tensor& results, const at::Tensor& places, std::int64_t slot) {
  return in_float(at::index_select(results, 0, places.select(1, slot)));
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor y = as_rows(arguments.outputs[0]);
  const at::Tensor weights = as_rows(arguments.inputs[1]);
  const at::Tensor places = arguments.inputs[2].view(weights.sizes());
  const at::Tensor sums = at::zeros(y.sizes(), y.options().dtype(at::kFloat));
  for (std::int64_t slot = 0; slot < weights.size(1); ++slot)
    sums.add_(at::mul(results_of(arguments.inputs[0], places, slot), weights.narrow(1, slot, 1)));
  y.copy_(sums);
}

// The gradient of a result is dy times its weight, that of a weight the product of dy and its result.
void backward(const BackwardArguments& arguments) {
  const at::Tensor dy = in_float(as_rows(arguments.output_gradients[0]));
  const at::Tensor weights = as_rows(arguments.saved_inputs[1]);
  const at::Tensor places = arguments.saved_inputs[2].view(weights.sizes());
  const at::Tensor& dresults = arguments.input_gradients[0];
  const at::Tensor dweights = as_rows(arguments.input_gradients[1]);
  for (std::int64_t slot = 0; slot < weights.size(1); ++slot) {
    if (dresults.defined()) {
      const at::Tensor of_slot = at::mul(dy, weights.narrow(1, slot, 1)).to(dresults.scalar_type());
      dresults.index_copy_(0, places.select(1, slot), of_slot);
    }
    if (dweights.defined())
      dweights.select(1, slot).copy_(results_of(arguments.saved_inputs[0], places, slot).mul_(dy).sum(-1));
  }
}

}  // namespace

extern const OperatorImplementation k_device_combine{forward, backward};

}  // namespace shardlab
