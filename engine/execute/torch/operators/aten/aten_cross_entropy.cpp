// The loss in double over float32 rows, a piece of the logits at a time. Workspace: three float32 copies of a
// piece.
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logsumexp.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor logits = as_rows(arguments.inputs[0]);
  const at::Tensor targets = arguments.inputs[1].view({-1, 1});
  const at::Tensor& log_sum_exp = arguments.extras[0];
  in_pieces(logits.size(0), logits.size(1), [&](std::int64_t first, std::int64_t count) {
    at::Tensor of_piece = log_sum_exp.narrow(0, first, count);
    at::logsumexp_out(of_piece, in_float(logits.narrow(0, first, count)), {1});
  });
  const at::Tensor own = at::gather(logits, 1, targets).view(-1).to(at::kDouble);
  arguments.outputs[0].copy_(log_sum_exp.to(at::kDouble).sub_(own).mean());
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor logits = as_rows(arguments.saved_inputs[0]);
  const at::Tensor gradient = as_rows(arguments.input_gradients[0]);
  const at::Tensor targets = arguments.saved_inputs[1].view({-1, 1});
  const double scale = arguments.seed / static_cast<double>(logits.size(0));
  in_pieces(logits.size(0), logits.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor shift = arguments.extras[0].narrow(0, first, count).unsqueeze(1);
    const at::Tensor own = targets.narrow(0, first, count);
    at::Tensor slope = logits.narrow(0, first, count).to(at::kFloat).sub(shift).exp_();
    slope.scatter_(1, own, at::gather(slope, 1, own).sub_(1));
    gradient.narrow(0, first, count).copy_(slope.mul_(scale));
  });
}

}  // namespace

extern const OperatorImplementation k_device_cross_entropy{forward, backward};

}  // namespace shardlab
