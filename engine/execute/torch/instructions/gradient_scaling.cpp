// ClipGradients: the scaling that keeps the norm of all gradients below the limit; or the limit of each
// element.
//
// Source: torch 2.11, torch/nn/utils/clip_grad.py: coefficient = min(1, max_norm / (total_norm + 1e-6)),
// which stays on the device: the host learns the norm after the step and decides nothing by it.
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sum.h>

#include <utility>

#include "engine/execute/torch/instructions/action.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {

namespace {

// DeepSpeed updates its scale before it divides by it: where this step lets it grow, gradients become smaller
// than they are.
float factor_taken_out(LossScale scale) {
  return scale.update(false) ? scale.inverse() : 0;
}

class ClipGradients : public Action {
 public:
  ClipGradients(const Site& site, std::vector<Slot> norms, std::vector<Slot> gradients, double limit)
      : run_(site.run), norms_(std::move(norms)), gradients_(std::move(gradients)), limit_(limit) {}

  void run(StepContext& step) override {
    const at::Tensor coefficient = coefficient_for(total_norm(step));
    const bool seen = run_.backend->arithmetic() == Arithmetic::host;  // the host need not wait to read it
    if (seen && !is_scaled() && *coefficient.const_data_ptr<float>() >= 1) return;
    std::vector<at::Tensor> gradients;
    for (const Slot slot : gradients_) {
      const std::vector<at::Tensor>& parts = run_.buffers.parts(slot);
      gradients.insert(gradients.end(), parts.begin(), parts.end());
    }
    at::_foreach_mul_(gradients, coefficient);
  }

  void skip(StepContext& step) override { total_norm(step); }

 private:
  // Single numbers, which no plan knows.
  at::Tensor total_norm(StepContext& step) const {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    at::Tensor norm = run_.buffers.tensor(norms_.front()).sum(at::kDouble);
    for (std::size_t i = 1; i < norms_.size(); ++i) norm += run_.buffers.tensor(norms_[i]).sum(at::kDouble);
    norm.sqrt_();
    const double scale = is_scaled() ? run_.loss_scale->inverse() : 1;
    if (!std::exchange(step.reads_norm, true))
      step.late->read(norm, [&step, scale](double value) { step.gradient_norm = value * scale; });
    return norm;
  }

  at::Tensor coefficient_for(const at::Tensor& norm) const {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    const double taken_out = is_scaled() ? factor_taken_out(*run_.loss_scale) : 1;
    const at::Tensor unscaled = norm.mul(taken_out).add_(1e-6);
    return at::full_like(norm, limit_).div_(unscaled).clamp_max_(1.0).mul_(taken_out).to(at::kFloat);
  }

  // DeepSpeed's unscale_and_clip_grads takes the factor of the loss out with the same multiplication.
  bool is_scaled() const { return run_.loss_scale && run_.loss_scale->stays_in_gradients(); }

  RunState& run_;
  const std::vector<Slot> norms_;
  const std::vector<Slot> gradients_;
  const double limit_;
};

class ClipValues : public Action {
 public:
  ClipValues(const Site& site, std::vector<Slot> gradients, double limit)
      : buffers_(site.run.buffers), gradients_(std::move(gradients)), limit_(limit) {}

  void run(StepContext&) override {
    for (const Slot gradient : gradients_) {
      for (const at::Tensor& part : buffers_.parts(gradient)) part.clamp_(-limit_, limit_);
    }
  }

 private:
  BufferTable& buffers_;
  const std::vector<Slot> gradients_;
  const double limit_;
};

}  // namespace

PreparedAction prepare_clip_gradients(const Site& site) {
  const Instruction& instruction = site.instruction();
  const TrainSpec& train = *site.run.planned.scenario.train;
  std::vector<Slot> norms, gradients;
  for (const BufferId id : instruction.writes) gradients.push_back(site.slot(id));
  for (const BufferId id : instruction.reads) {
    if (site.buffer(id).role == BufferRole::norms) norms.push_back(site.slot(id));
  }
  if (train.clip_value) return std::make_unique<ClipValues>(site, std::move(gradients), *train.clip_value);
  if (!train.clip_norm || norms.empty()) return site.defect("reads no norms, or there is no train.clip_norm");
  return std::make_unique<ClipGradients>(site, std::move(norms), std::move(gradients), *train.clip_norm);
}

// Unscale: takes the factor of the loss out of the gradients and notes whether any of them is not finite.
//
// Source: torch 2.11, GradScaler._unscale_grads_.

namespace {

class Unscale : public Action {
 public:
  Unscale(const Site& site, Slot found_inf, std::vector<Slot> gradients)
      : run_(site.run), found_inf_(found_inf), gradients_(std::move(gradients)) {}

  void run(StepContext&) override {
    at::Tensor found = run_.buffers.tensor(found_inf_);
    const at::Tensor factor = number(run_.loss_scale->inverse(), found);
    found.zero_();
    for (const Slot gradient : gradients_) {
      at::_amp_foreach_non_finite_check_and_unscale_(run_.buffers.parts(gradient), found, factor);
    }
  }

 private:
  // Four bytes that no plan knows.
  static at::Tensor number(float value, const at::Tensor& like) {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    return at::full({1}, value, like.options());
  }

  RunState& run_;
  const Slot found_inf_;
  const std::vector<Slot> gradients_;
};

}  // namespace

namespace {

// Without a search: that was made of the gradients before.
class UnscaleAlone : public Action {
 public:
  UnscaleAlone(const Site& site, std::vector<Slot> gradients)
      : run_(site.run), gradients_(std::move(gradients)) {}

  void run(StepContext&) override {
    for (const Slot gradient : gradients_) {
      for (const at::Tensor& part : run_.buffers.parts(gradient))
        part.mul_(factor_taken_out(*run_.loss_scale));
    }
  }

 private:
  RunState& run_;
  const std::vector<Slot> gradients_;
};

}  // namespace

PreparedAction prepare_unscale(const Site& site) {
  if (!site.run.loss_scale) return site.defect("the scenario does not scale its loss");
  Slot found_inf = k_no_slot;
  std::vector<Slot> gradients;
  for (const BufferId id : site.instruction().writes) {
    if (site.buffer(id).buffer_class == BufferClass::scalar) {
      found_inf = site.slot(id);
    } else {
      gradients.push_back(site.slot(id));
    }
  }
  const bool alone = site.run.loss_scale->stays_in_gradients();
  if (alone) return std::make_unique<UnscaleAlone>(site, std::move(gradients));
  if (found_inf == k_no_slot) return site.defect("has no place for what it finds");
  return std::make_unique<Unscale>(site, found_inf, std::move(gradients));
}

}  // namespace shardlab
