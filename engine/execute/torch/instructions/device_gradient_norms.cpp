// GradientNorms and ClipGradients on a device: the host learns the norm after the step and decides nothing by
// it.
//
// Source: torch 2.11, torch/nn/utils/clip_grad.py, foreach: norms of all gradients at once in float32, and
// every gradient multiplied with min(1, max_norm / (total_norm + 1e-6)), which stays on the device.
#include "engine/execute/torch/instructions/device_gradient_norms.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

namespace shardlab {
namespace {

class DeviceGradientNorms : public Action {
 public:
  DeviceGradientNorms(const Site& site, Slot norms, std::vector<GradientPiece> pieces)
      : run_(site.run), norms_(norms), pieces_(std::move(pieces)) {}

  void run(StepContext&) override {
    const at::Tensor& norms = run_.buffers.tensor(norms_);
    norms.zero_();
    if (pieces_.empty()) return;
    std::vector<at::Tensor> gradients;
    for (const GradientPiece& piece : pieces_)
      gradients.push_back(run_.buffers.tensor(piece.slot).narrow(0, piece.offset, piece.count));
    const at::Tensor squares = at::stack(at::_foreach_norm(gradients, 2, at::kFloat)).square_();
    if (norms.numel() == 1) {
      norms.add_(squares.sum());
    } else {
      norms.index_add_(0, places(norms.device()), squares);
    }
  }

 private:
  // Of each piece among the norms; on the device from the first step on.
  const at::Tensor& places(c10::Device device) {
    if (places_.defined()) return places_;
    const MemoryLedger uncounted;  // eight bytes a piece, which no plan knows
    const LedgerScope scope(uncounted);
    std::vector<std::int64_t> numbers;
    for (const GradientPiece& piece : pieces_) numbers.push_back(static_cast<std::int64_t>(piece.place));
    places_ = at::tensor(numbers, at::TensorOptions(at::kLong)).to(device);
    return places_;
  }

  RunState& run_;
  const Slot norms_;
  const std::vector<GradientPiece> pieces_;
  at::Tensor places_;
};

class DeviceClipGradients : public Action {
 public:
  DeviceClipGradients(const Site& site, Slot norms, std::vector<Slot> gradients, double limit)
      : run_(site.run), norms_(norms), gradients_(std::move(gradients)), limit_(limit) {}

  void run(StepContext& step) override {
    const at::Tensor norm = total_norm(step);
    const at::Tensor coefficient = norm.add(1e-6).reciprocal_().mul_(limit_).clamp_max_(1.0);
    std::vector<at::Tensor> gradients;
    for (const Slot slot : gradients_) gradients.push_back(run_.buffers.tensor(slot));
    at::_foreach_mul_(gradients, coefficient);
  }

  void skip(StepContext& step) override { total_norm(step); }

 private:
  at::Tensor total_norm(StepContext& step) const {
    at::Tensor norm = run_.buffers.tensor(norms_).sum().sqrt_();
    step.late->read(norm, [&step](double value) { step.gradient_norm = value; });
    return norm;
  }

  RunState& run_;
  const Slot norms_;
  const std::vector<Slot> gradients_;
  const double limit_;
};

}  // namespace

std::unique_ptr<Action> device_gradient_norms(const Site& site, Slot norms,
                                              std::vector<GradientPiece> pieces) {
  return std::make_unique<DeviceGradientNorms>(site, norms, std::move(pieces));
}

std::unique_ptr<Action> device_clip_gradients(const Site& site, Slot norms, std::vector<Slot> gradients,
                                              double limit) {
  return std::make_unique<DeviceClipGradients>(site, norms, std::move(gradients), limit);
}

}  // namespace shardlab
