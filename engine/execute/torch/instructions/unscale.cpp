// Unscale: takes the factor of the loss out of the gradients and notes whether any of them is not finite.
//
// Source: torch 2.11, GradScaler._unscale_grads_.
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/full.h>

#include "engine/execute/torch/instructions/action.h"
#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {
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
      const std::vector<at::Tensor> one{run_.buffers.tensor(gradient)};
      at::_amp_foreach_non_finite_check_and_unscale_(one, found, factor);
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
  if (found_inf == k_no_slot) return site.defect("has no place for what it finds");
  return std::make_unique<Unscale>(site, found_inf, std::move(gradients));
}

}  // namespace shardlab
