// A stable sort, so that of equal probabilities the expert with the lower number is taken. Workspace: a few
// float32 copies of the logits and their order in int64.
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros_like.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

bool is_normalized(const Operator& op) {
  return op.attributes.get(attribute::k_normalized);
}

void forward(const ForwardArguments& arguments) {
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
void backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_device_top_k{forward, backward};

}  // namespace shardlab
