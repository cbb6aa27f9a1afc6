// Source: torch 2.11, torch/optim/adam.py and sgd.py: `_single_tensor_*` and `_multi_tensor_*`, whose
// operations are the same for each tensor.
#include "engine/execute/torch/instructions/optimizer_kernels.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sqrt.h>

#include <cmath>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// The step counter is four bytes a run, not a buffer of the plan.
at::Tensor step_count(std::int64_t count, c10::Device device) {
  const MemoryLedger uncounted;
  const LedgerScope scope(uncounted);
  return at::full({}, static_cast<double>(count), at::TensorOptions(at::kFloat).device(device));
}

// Fused SGD of 16-bit tensors: libtorch's own kernel leaves all but the last few elements of a tensor as they
// were (torch 2.11 on a CPU; pytorch issue 191763).
template <typename T>
void fused_sgd(const TrainSpec& train, const OptimizerMoment& moment, const at::Tensor& parameter,
               const at::Tensor& gradient, const at::Tensor* momentum) {
  auto* p = parameter.mutable_data_ptr<T>();
  const auto* g = gradient.const_data_ptr<T>();
  auto* m = momentum != nullptr ? momentum->mutable_data_ptr<T>() : nullptr;
  const auto rate = static_cast<float>(moment.learning_rate);
  const auto decay = static_cast<float>(train.weight_decay);
  const auto keep = static_cast<float>(train.momentum);
  for (std::int64_t i = 0; i < parameter.numel(); ++i) {
    const auto value = static_cast<float>(p[i]);
    float direction = static_cast<float>(g[i]) + decay * value;
    if (m != nullptr) {
      if (moment.step > 1) direction += keep * static_cast<float>(m[i]);
      m[i] = static_cast<T>(direction);
    }
    p[i] = static_cast<T>(value - rate * direction);
  }
}

bool is_16_bit_on_the_host(const OptimizerTensors& t) {
  return !t.parameters.empty() && t.parameters[0].is_cpu() && t.parameters[0].element_size() == 2;
}

void fused_step(const TrainSpec& train, const OptimizerTensors& t, const OptimizerMoment& moment) {
  if (train.optimizer == Optimizer::sgd && is_16_bit_on_the_host(t)) {
    for (std::size_t i = 0; i < t.parameters.size(); ++i) {
      AT_DISPATCH_REDUCED_FLOATING_TYPES(t.parameters[i].scalar_type(), "fused_sgd", [&] {
        fused_sgd<scalar_t>(train, moment, t.parameters[i], t.gradients[i],
                            t.states.empty() ? nullptr : &t.states[0][i]);
      });
    }
    return;
  }
  if (train.optimizer == Optimizer::sgd) {
    at::_fused_sgd_(t.parameters, t.gradients, t.states.empty() ? at::TensorList{} : t.states[0],
                    train.weight_decay, train.momentum, moment.learning_rate, /*dampening=*/0.0,
                    /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/moment.step == 1);
    return;
  }
  const std::vector<at::Tensor> steps(t.parameters.size(), step_count(moment.step, t.parameters[0].device()));
  const auto [beta1, beta2] = train.betas;
  if (train.optimizer == Optimizer::adam) {
    at::_fused_adam_(t.parameters, t.gradients, t.states[0], t.states[1], {}, steps, moment.learning_rate,
                     beta1, beta2, train.weight_decay, train.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  } else {
    at::_fused_adamw_(t.parameters, t.gradients, t.states[0], t.states[1], {}, steps, moment.learning_rate,
                      beta1, beta2, train.weight_decay, train.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }
}

// Hands out the instruction's temporaries piece by piece.
class Temporaries {
 public:
  explicit Temporaries(const at::Tensor& all) : all_(all) {}
  at::Tensor take(std::int64_t elements) {
    const at::Tensor piece = all_.narrow(0, taken_, elements);
    taken_ += elements;
    return piece;
  }
  void drop() { taken_ = 0; }

 private:
  const at::Tensor& all_;
  std::int64_t taken_ = 0;
};

// gradient + weight_decay * parameter, a tensor of its own.
at::Tensor decayed(const TrainSpec& train, const at::Tensor& gradient, const at::Tensor& parameter,
                   Temporaries& temporaries) {
  if (train.weight_decay == 0 || train.optimizer == Optimizer::adamw) return gradient;
  at::Tensor result = temporaries.take(gradient.numel());
  at::add_out(result, gradient, parameter, train.weight_decay);
  return result;
}

void step_sgd(const TrainSpec& train, const OptimizerTensors& t, std::size_t i,
              const OptimizerMoment& moment) {
  Temporaries temporaries(moment.temporaries);
  at::Tensor direction = decayed(train, t.gradients[i], t.parameters[i], temporaries);
  if (train.momentum != 0) {
    const at::Tensor& buffer = t.states[0][i];
    if (moment.step == 1) {
      buffer.copy_(direction);
    } else {
      buffer.mul_(train.momentum).add_(direction);
    }
    direction = buffer;
  }
  t.parameters[i].add_(direction, -moment.learning_rate);
}

void step_adam(const TrainSpec& train, const OptimizerTensors& t, std::size_t i,
               const OptimizerMoment& moment) {
  Temporaries temporaries(moment.temporaries);
  const at::Tensor& parameter = t.parameters[i];
  const at::Tensor& average = t.states[0][i];
  const at::Tensor& average_square = t.states[1][i];
  if (train.weight_decay != 0 && train.optimizer == Optimizer::adamw)
    parameter.mul_(1 - moment.learning_rate * train.weight_decay);
  const at::Tensor gradient = decayed(train, t.gradients[i], parameter, temporaries);
  average.lerp_(gradient, 1 - train.betas[0]);
  average_square.mul_(train.betas[1]).addcmul_(gradient, gradient, 1 - train.betas[1]);
  const auto step = static_cast<double>(moment.step);
  const double correction = 1 - std::pow(train.betas[0], step);
  const double square_correction = std::sqrt(1 - std::pow(train.betas[1], step));
  const bool loop = train.optimizer_implementation == OptimizerImplementation::loop;
  if (!loop) temporaries.drop();  // the gradients are gone before the roots are made
  at::Tensor root = temporaries.take(parameter.numel());
  at::sqrt_out(root, average_square);
  at::Tensor denominator = loop ? temporaries.take(parameter.numel()) : root;
  // A tensor as divisor: the variant for numbers makes a tensor of its own first.
  at::div_out(denominator, root, at::scalar_tensor(square_correction, at::kDouble));
  denominator.add_(train.epsilon);
  parameter.addcdiv_(average, denominator, -moment.learning_rate / correction);
}

}  // namespace

void step_optimizer(const TrainSpec& train, const OptimizerTensors& tensors, const OptimizerMoment& moment) {
  if (train.optimizer_implementation == OptimizerImplementation::fused)
    return fused_step(train, tensors, moment);
  for (std::size_t i = 0; i < tensors.parameters.size(); ++i)
    (train.optimizer == Optimizer::sgd ? step_sgd : step_adam)(train, tensors, i, moment);
}

}  // namespace shardlab
