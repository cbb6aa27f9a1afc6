// Mixture of experts on any device: choosing, sending rows to experts and back.
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

// Places by a stable sort of the experts; sizes depend on nothing that only the device knows. Workspace: some
// int64 an assignment; backward a float32 and a copied row for each of x.

namespace {

void dispatch_forward(const ForwardArguments& arguments) {
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
void dispatch_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor dx = as_rows(arguments.input_gradients[0]);
  const at::Tensor places = arguments.saved_outputs[1].view({dx.size(0), -1});
  const at::Tensor sums = at::zeros(dx.sizes(), dx.options().dtype(at::kFloat));
  for (std::int64_t slot = 0; slot < places.size(1); ++slot)
    sums.add_(at::index_select(arguments.output_gradients[0], 0, places.select(1, slot)));
  dx.copy_(sums);
}

}  // namespace

extern const OperatorImplementation k_device_dispatch{dispatch_forward, dispatch_backward};

// Sums in float32, in order of slots. Workspace: a few float32 copies of y.

namespace {

at::Tensor results_of(const at::Tensor& results, const at::Tensor& places, std::int64_t slot) {
  return in_float(at::index_select(results, 0, places.select(1, slot)));
}

void combine_forward(const ForwardArguments& arguments) {
  const at::Tensor y = as_rows(arguments.outputs[0]);
  const at::Tensor weights = as_rows(arguments.inputs[1]);
  const at::Tensor places = arguments.inputs[2].view(weights.sizes());
  const at::Tensor sums = at::zeros(y.sizes(), y.options().dtype(at::kFloat));
  for (std::int64_t slot = 0; slot < weights.size(1); ++slot)
    sums.add_(at::mul(results_of(arguments.inputs[0], places, slot), weights.narrow(1, slot, 1)));
  y.copy_(sums);
}

// The gradient of a result is dy times its weight, that of a weight the product of dy and its result.
void combine_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_device_combine{combine_forward, combine_backward};

// A stable sort, so that of equal probabilities the expert with the lower number is taken. Workspace: a few
// float32 copies of the logits and their order in int64.

namespace {

bool is_normalized(const Operator& op) {
  return op.attributes.get(attribute::k_normalized);
}

void top_k_forward(const ForwardArguments& arguments) {
  const at::Tensor logits = in_float(as_rows(arguments.inputs[0]));
  const at::Tensor weights = as_rows(arguments.outputs[0]);
  const auto [sorted, order] = at::sort(logits, /*stable=*/true, 1, /*descending=*/true);
  const at::Tensor taken = sorted.narrow(1, 0, weights.size(1));
  const at::Tensor whole = is_normalized(arguments.op) ? at::Tensor() : at::logsumexp(logits, {1}, true);
  const at::Tensor shift = whole.defined() ? whole : at::logsumexp(taken, {1}, true);
  weights.copy_(taken.sub(shift).exp_());
  as_rows(arguments.outputs[1]).copy_(order.narrow(1, 0, weights.size(1)));
  if (!arguments.extras.empty()) arguments.extras[0].copy_(whole.view(-1));
}

// Normalized: a softmax over the chosen. Else of all: dz = p (dp - sum(p dp)), where dp is 0 but for the
// chosen.
void top_k_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor dlogits = as_rows(arguments.input_gradients[0]);
  const at::Tensor weights = in_float(as_rows(arguments.saved_outputs[0]));
  const at::Tensor experts = as_rows(arguments.saved_outputs[1]);
  const at::Tensor products = at::mul(weights, as_rows(arguments.output_gradients[0]));
  const at::Tensor sum = products.sum(1, /*keepdim=*/true);
  if (is_normalized(arguments.op)) {
    const at::Tensor chosen = products.sub(at::mul(weights, sum));
    dlogits.zero_().scatter_(1, experts, chosen.to(dlogits.scalar_type()));
    return;
  }
  const at::Tensor shift = arguments.extras[0].unsqueeze(1);
  const at::Tensor all = as_rows(arguments.saved_inputs[0]).to(at::kFloat).sub(shift).exp_().mul_(sum).neg_();
  dlogits.copy_(all.scatter(1, experts, at::gather(all, 1, experts).add_(products)));
}

}  // namespace

extern const OperatorImplementation k_device_top_k{top_k_forward, top_k_backward};

}  // namespace shardlab
