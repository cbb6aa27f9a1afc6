// log_softmax and nll_loss of torch, on logits in float32.
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/nll_loss_forward.h>
#include <ATen/ops/scalar_tensor.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_mean = 1;        // at::Reduction::Mean
constexpr std::int64_t k_ignored = -100;  // targets that do not count

at::Tensor as_rows(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

void forward(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  at::Tensor logarithms = kept.find("log_probabilities"), weight = kept.find("total_weight").select(0, 0);
  const at::Tensor targets = arguments.inputs[1].view(-1);
  at::Tensor loss = arguments.outputs[0];
  at::_log_softmax_out(logarithms, as_rows(arguments.inputs[0]).to(at::kFloat), 1, false);
  at::nll_loss_forward_out(loss, weight, logarithms, targets, {}, k_mean, k_ignored);
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const KeptExtras kept(arguments);
  const at::Tensor logarithms = kept.find("log_probabilities"),
                   weight = kept.find("total_weight").select(0, 0);
  const at::Tensor targets = arguments.saved_inputs[1].view(-1);
  const at::Tensor seed = at::scalar_tensor(arguments.seed, logarithms.options());
  const at::Tensor of_logarithms =
      at::nll_loss_backward(seed, logarithms, targets, {}, k_mean, k_ignored, weight);
  at::Tensor dx = as_rows(arguments.input_gradients[0]);
  if (dx.scalar_type() == at::kFloat) {
    at::_log_softmax_backward_data_out(dx, of_logarithms, logarithms, 1, at::kFloat);
  } else {
    dx.copy_(at::_log_softmax_backward_data(of_logarithms, logarithms, 1, at::kFloat));
  }
}

}  // namespace

extern const OperatorImplementation k_eager_cross_entropy_implementation{forward, backward};

}  // namespace shardlab
