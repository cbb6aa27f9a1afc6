// The plain loop's loss of a student, kernel by kernel: cross_entropy and kl_div of torch on float32 logits.
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/nll_loss_forward.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/xlogy.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_mean = 1;        // at::Reduction::Mean
constexpr std::int64_t k_ignored = -100;  // targets that do not count

at::Tensor as_rows(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

struct Terms {
  explicit Terms(const Operator& op)
      : temperature(op.attributes.get(attribute::k_temperature)),
        weight(op.attributes.get(attribute::k_weight)) {}
  double temperature, weight;
};

struct Kept {
  explicit Kept(const KeptExtras& extras)
      : plain(extras.find("log_probabilities")),
        softened(extras.find("softened_log_probabilities")),
        teacher(extras.find("teacher_probabilities")),
        total_weight(extras.find("total_weight").select(0, 0)) {}
  at::Tensor plain, softened, teacher, total_weight;
};

// xlogy(t, t) - t * log s, summed.
at::Tensor divergence(const at::Tensor& teacher, const at::Tensor& softened) {
  const at::Tensor own = at::xlogy(teacher, teacher);
  at::Tensor difference;
  {
    const at::Tensor shared = at::mul(teacher, softened);
    difference = at::sub(own, shared);
  }
  return at::sum(difference);
}

void forward(const ForwardArguments& arguments) {
  const Terms terms(arguments.op);
  const Kept kept{KeptExtras(arguments)};
  const at::Tensor student = as_rows(arguments.inputs[0]).to(at::kFloat);
  const at::Tensor teacher = as_rows(arguments.inputs[2]).to(at::kFloat);
  at::Tensor softened = kept.softened, probabilities = kept.teacher, plain = kept.plain,
             weight = kept.total_weight, loss = arguments.outputs[0];
  at::_log_softmax_out(softened, at::div(student, terms.temperature), 1, false);
  at::_softmax_out(probabilities, at::div(teacher, terms.temperature), 1, false);
  const at::Tensor soft = divergence(probabilities, softened).div_(static_cast<double>(student.size(0)));
  at::_log_softmax_out(plain, student, 1, false);
  at::nll_loss_forward_out(loss, weight, plain, arguments.inputs[1].view(-1), {}, k_mean, k_ignored);
  loss.mul_(1 - terms.weight).add_(soft, terms.weight * terms.temperature * terms.temperature);
}

// The gradient of the cross-entropy, written into `gradient`, which is float32.
void plain_gradient(const Kept& kept, const at::Tensor& targets, double seed, at::Tensor gradient) {
  const at::Tensor scale = at::scalar_tensor(seed, kept.plain.options());
  const at::Tensor of_logarithms =
      at::nll_loss_backward(scale, kept.plain, targets, {}, k_mean, k_ignored, kept.total_weight);
  at::_log_softmax_backward_data_out(gradient, of_logarithms, kept.plain, 1, at::kFloat);
}

// The gradient of the divergence, made in the place of the gradient of its logarithms. Autograd makes one
// tensor more and has freed the logarithms of the cross-entropy by then, so the most that is there at once is
// the same.
at::Tensor softened_gradient(const Kept& kept, double seed, double temperature) {
  at::Tensor of_logarithms = at::full_like(kept.teacher, -seed).mul_(kept.teacher);
  at::_log_softmax_backward_data_out(of_logarithms, of_logarithms, kept.softened, 1, at::kFloat);
  return of_logarithms.div_(at::scalar_tensor(temperature, of_logarithms.options()));
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.wants(0)) return;
  const Terms terms(arguments.op);
  const Kept kept{KeptExtras(arguments)};
  const at::Tensor targets = arguments.saved_inputs[1].view(-1);
  const bool copied = arguments.graph.tensor(arguments.op.inputs[0]).dtype != DType::float32;
  at::Tensor sum = copied ? at::empty_like(kept.plain) : as_rows(arguments.input_gradient(0));
  plain_gradient(kept, targets, arguments.seed * (1 - terms.weight), sum);
  const double soft = arguments.seed * terms.weight * terms.temperature * terms.temperature /
                      static_cast<double>(sum.size(0));
  sum.add_(softened_gradient(kept, soft, terms.temperature));
  if (copied) as_rows(arguments.input_gradient(0)).copy_(sum);
}

}  // namespace

extern const OperatorImplementation k_eager_distillation_loss_implementation{forward, backward};

}  // namespace shardlab
