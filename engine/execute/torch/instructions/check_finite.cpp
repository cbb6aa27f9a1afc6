// CheckFinite: whether any of the gradients is not finite, as a number that is not zero.
//
// Source: DeepSpeed 0.19.8, runtime/utils.py (has_inf_or_nan).
#include <ATen/Dispatch.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/logical_not.h>

#include <cmath>

#include "engine/execute/torch/instructions/action.h"
#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {
namespace {

bool all_finite_on_host(const at::Tensor& values) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, values.scalar_type(), "all_finite", [&] {
    const auto* value = values.const_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      if (!std::isfinite(static_cast<float>(value[i]))) return false;
    }
    return true;
  });
}

class CheckFinite : public Action {
 public:
  CheckFinite(const Site& site, Slot found, std::vector<Slot> gradients)
      : run_(site.run), found_(found), gradients_(std::move(gradients)) {}

  void run(StepContext&) override {
    const at::Tensor& found = run_.buffers.tensor(found_);
    found.zero_();
    const bool on_host = run_.backend->arithmetic() == Arithmetic::host;
    for (const Slot gradient : gradients_) {
      for (const at::Tensor& part : run_.buffers.parts(gradient)) {
        on_host ? mark_on_host(found, part) : mark_on_device(found, part);
      }
    }
  }

 private:
  static void mark_on_host(const at::Tensor& found, const at::Tensor& part) {
    if (!all_finite_on_host(part)) found.fill_(1);
  }

  // The mask takes a byte an element, which DeepSpeed's takes too and no plan knows.
  static void mark_on_device(const at::Tensor& found, const at::Tensor& part) {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    found.add_(at::logical_not(at::isfinite(part)).any().to(found.scalar_type()));
  }

  RunState& run_;
  const Slot found_;
  const std::vector<Slot> gradients_;
};

}  // namespace

PreparedAction prepare_check_finite(const Site& site) {
  std::vector<Slot> gradients;
  for (const BufferId id : site.instruction().reads) gradients.push_back(site.slot(id));
  if (site.instruction().writes.empty()) return site.defect("writes no number");
  return std::make_unique<CheckFinite>(site, site.slot(site.instruction().writes.front()),
                                       std::move(gradients));
}

}  // namespace shardlab
