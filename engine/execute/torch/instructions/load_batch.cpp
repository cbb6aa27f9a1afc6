// LoadBatch: token ids and targets of one micro-batch of this rank.
#include <array>
#include <stdexcept>
#include <utility>

#include "engine/execute/torch/instructions/action.h"

namespace shardlab {
namespace {

class LoadBatch : public Action {
 public:
  LoadBatch(const Site& site, Slot tokens, Slot targets)
      : buffers_(site.run.buffers),
        data_(*site.run.data),
        rank_(site.run.rank),
        micro_batch_(site.instruction().micro_batch.value_or(0)),
        tokens_(tokens),
        targets_(targets) {
    for (at::Tensor& staged : staged_)
      staged = site.run.backend->host_memory(buffers_.buffer(tokens).elements, at::kLong);
  }

  void run(StepContext& step) override {
    const at::Tensor& tokens = staged_[0];
    const at::Tensor& targets = staged_[1];
    const auto count = static_cast<std::size_t>(tokens.numel());
    const Status loaded =
        data_.load(step.step, rank_, micro_batch_, {tokens.mutable_data_ptr<std::int64_t>(), count},
                   {targets.mutable_data_ptr<std::int64_t>(), count});
    if (!loaded) throw std::runtime_error(to_string(loaded.error()));
    send();
  }

 private:
  void send() {
    for (const auto& [slot, staged] : {std::pair(tokens_, staged_[0]), std::pair(targets_, staged_[1])}) {
      const at::Tensor& to = buffers_.tensor(slot);
      to.copy_(staged.view(to.sizes()), /*non_blocking=*/true);
    }
  }

  BufferTable& buffers_;
  TrainingData& data_;
  const int rank_, micro_batch_;
  const Slot tokens_, targets_;
  // Host memory from which the device copies. This instruction's own, so that nobody writes it before the
  // step is over.
  std::array<at::Tensor, 2> staged_;
};

}  // namespace

PreparedAction prepare_load_batch(const Site& site) {
  if (!site.run.data)
    return bad_input("train.data", "a training run needs data",
                     "name a text file or a .bin file of uint16 tokens");
  Slot tokens = k_no_slot;
  Slot targets = k_no_slot;
  for (const BufferId id : site.instruction().writes) {
    const Buffer& buffer = site.buffer(id);
    if (!buffer.tensor) continue;
    const TensorRole role = site.run.planned.graph.tensor(*buffer.tensor).role;
    if (role == TensorRole::tokens) tokens = site.slot(id);
    if (role == TensorRole::targets) targets = site.slot(id);
  }
  if (tokens == k_no_slot || targets == k_no_slot) return site.defect("does not write tokens and targets");
  return std::make_unique<LoadBatch>(site, tokens, targets);
}

}  // namespace shardlab
