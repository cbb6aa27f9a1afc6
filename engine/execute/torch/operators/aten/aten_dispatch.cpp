// Places by a stable sort of the experts; sizes depend on nothing that only the device knows. Workspace: some
// int64 an assignment; backward a float32 and a copied row for each of x.
#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor x = as_rows(arguments.inputs[0]);
  const at::Tensor experts = arguments.inputs[1].view(-1);
  const std::int64_t slots = arguments.inputs[1].size(-1);
  const at::Tensor order = std::get<1>(at::sort(experts, /*stable=*/true, 0, /*descending=*/false));
  arguments.outputs[1].view(-1).scatter_(0, order, at::arange(order.numel(), order.options()));
  arguments.outputs[2].zero_().scatter_add_(0, experts, at::ones_like(experts));
  at::Tensor rows = arguments.outputs[0];
  at::index_select_out(rows, x, 0, order.div(slots, "floor"));
}

// In order of slots, as the copies were made.
void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor dx = as_rows(arguments.input_gradients[0]);
  const at::Tensor places = arguments.saved_outputs[1].view({dx.size(0), -1});
  const at::Tensor sums = at::zeros(dx.sizes(), dx.options().dtype(at::kFloat));
  for (std::int64_t slot = 0; slot < places.size(1); ++slot)
    sums.add_(at::index_select(arguments.output_gradients[0], 0, places.select(1, slot)));
  dx.copy_(sums);
}

}  // namespace

extern const OperatorImplementation k_device_dispatch{forward, backward};

}  // namespace shardlab
