// ZeroGradients: zero_grad(). What it frees is gone (set_to_none); what it writes becomes zero where it lies.
#include <utility>

#include <ATen/ops/_foreach_zero.h>

#include "engine/execute/torch/instructions/action.h"

namespace shardlab {
namespace {

class ZeroGradients : public Action {
 public:
  ZeroGradients(const Site& site, std::vector<Slot> gradients)
      : buffers_(site.run.buffers), gradients_(std::move(gradients)) {}

  void run(StepContext&) override {
    std::vector<at::Tensor> tensors;
    for (const Slot gradient : gradients_) {
      const std::vector<at::Tensor>& parts = buffers_.parts(gradient);
      tensors.insert(tensors.end(), parts.begin(), parts.end());
    }
    at::_foreach_zero_(tensors);
  }

 private:
  BufferTable& buffers_;
  const std::vector<Slot> gradients_;
};

}  // namespace

PreparedAction prepare_zero_gradients(const Site& site) {
  std::vector<Slot> gradients;
  for (const BufferId id : site.instruction().writes) gradients.push_back(site.slot(id));
  if (gradients.empty()) return prepare_nothing(site);
  return std::make_unique<ZeroGradients>(site, std::move(gradients));
}

}  // namespace shardlab
