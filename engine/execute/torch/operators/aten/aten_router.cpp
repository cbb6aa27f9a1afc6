// What routers add to the loss. Counting compares every assignment with every expert: no index that a device
// would have to check, and no atomic. Workspace: a float32 copy of the probabilities, and a byte for each
// comparison of a piece.
#include <ATen/ops/arange.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

at::Tensor assignments_of(const at::Tensor& chosen, std::int64_t experts) {
  const at::Tensor flat = chosen.view({-1, 1});
  const at::Tensor numbers = at::arange(experts, flat.options());
  at::Tensor count = at::zeros({experts}, flat.options());
  in_pieces(flat.size(0), experts, [&](std::int64_t first, std::int64_t rows) {
    count.add_(flat.narrow(0, first, rows).eq(numbers).sum(0));
  });
  return count;
}

at::Tensor probabilities_of(const at::Tensor& logits, const at::Tensor& log_sum_exp) {
  return logits.to(at::kFloat).sub(log_sum_exp.view({-1, 1})).exp_();
}

void sums_forward(const ForwardArguments& arguments) {
  const at::Tensor logits = as_rows(arguments.inputs[0]);
  const at::Tensor log_sum_exp = at::logsumexp(in_float(logits), {1});
  if (!arguments.extras.empty()) arguments.extras[0].copy_(log_sum_exp);
  const at::Tensor& sums = arguments.outputs[0];
  sums.select(0, 0).copy_(assignments_of(arguments.inputs[1], logits.size(1)));
  sums.select(0, 1).copy_(probabilities_of(logits, log_sum_exp).sum(0, false, at::kDouble));
  if (arguments.inputs.size() > 2) sums.add_(arguments.inputs[2]);
}

// d logit = p * (g - sum of p * g), where g are the gradients of the sums of probabilities.
void sums_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor p = probabilities_of(as_rows(arguments.saved_inputs[0]), arguments.extras[0]);
  const at::Tensor g = arguments.output_gradients[0].select(0, 1).view({1, -1});
  const at::Tensor mean = p.mul(g).sum({1}, true, at::kDouble).to(at::kFloat);
  as_rows(arguments.input_gradients[0]).copy_(g.sub(mean).mul_(p));
}

// What the sum over experts of assignments times probabilities is multiplied by.
double factor_of(const Operator& op, std::int64_t experts) {
  const auto rows = static_cast<double>(op.attributes.get(attribute::k_rows));
  return op.attributes.get(attribute::k_weight) * static_cast<double>(experts) / (rows * rows);
}

void loss_forward(const ForwardArguments& arguments) {
  const at::Tensor sums = arguments.inputs[1].to(at::kDouble);
  const at::Tensor balance = sums.select(0, 0).mul(sums.select(0, 1)).sum();
  const double factor = factor_of(arguments.op, sums.size(1));
  arguments.outputs[0].copy_(
      balance.mul_(factor).add_(arguments.inputs[0].view({})).view_as(arguments.outputs[0]));
}

// What the assignments would have is zero: they are counted, not computed.
void loss_backward(const BackwardArguments& arguments) {
  const at::Tensor& gradient = arguments.input_gradients[1];
  if (!gradient.defined()) return;
  gradient.select(0, 0).zero_();
  const double factor = arguments.seed * factor_of(arguments.op, gradient.size(1));
  gradient.select(0, 1).copy_(arguments.saved_inputs[1].select(0, 0).mul(factor));
}

}  // namespace

extern const OperatorImplementation k_device_router_sums{sums_forward, sums_backward};
extern const OperatorImplementation k_device_router_loss{loss_forward, loss_backward};

}  // namespace shardlab
