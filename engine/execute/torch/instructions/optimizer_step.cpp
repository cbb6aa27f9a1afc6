// OptimizerStep: AdamW, Adam or SGD on the parameters this rank holds.
//
// Where parameters and gradients lie alike, a whole buffer is one tensor for the kernel; padding is zero and
// stays zero. `loop` takes one parameter after the other, as torch.optim does.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/execute/torch/instructions/optimizer_kernels.h"
#include "engine/execute/torch/instructions/update_pieces.h"
#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// What one unit's update reads and writes.
struct Update {
  Slot parameters = k_no_slot;
  Slot gradients = k_no_slot;
  std::vector<Slot> states;
  std::vector<UpdatePiece> pieces;
};

class OptimizerStep : public Action {
 public:
  OptimizerStep(const Site& site, std::vector<Update> updates, std::vector<Slot> new_states, Slot temporaries)
      : run_(site.run),
        train_(*site.run.planned.scenario.train),
        updates_(std::move(updates)),
        new_states_(std::move(new_states)),
        temporaries_(temporaries) {}

  void run(StepContext& step) override {
    zero_new_states();
    OptimizerTensors tensors;
    tensors.states.resize(optimizer_rule(train_).states.size());
    for (const Update& update : updates_) {
      for (const UpdatePiece& piece : update.pieces) append(tensors, update, piece);
    }
    if (!std::exchange(step.is_counted, true)) ++run_.optimizer_steps;
    OptimizerMoment moment{step.learning_rate, run_.optimizer_steps, {}};
    if (tensors.parameters.empty()) return;  // this rank holds frozen parameters only
    if (temporaries_ != k_no_slot) moment.temporaries = run_.buffers.tensor(temporaries_);
    step_optimizer(train_, tensors, moment);
  }

  void skip(StepContext&) override { zero_new_states(); }

 private:
  void zero_new_states() const {
    for (const Slot state : new_states_) run_.buffers.tensor(state).zero_();
  }

  void append(OptimizerTensors& tensors, const Update& update, const UpdatePiece& piece) const {
    const auto part = [&](Slot slot, std::int64_t begin) {
      return run_.buffers.range(slot, begin, piece.count);
    };
    tensors.parameters.push_back(part(update.parameters, piece.parameter));
    tensors.gradients.push_back(part(update.gradients, piece.gradient));
    for (std::size_t i = 0; i < update.states.size(); ++i)
      tensors.states[i].push_back(part(update.states[i], piece.state));
  }

  RunState& run_;
  const TrainSpec& train_;
  const std::vector<Update> updates_;
  const std::vector<Slot> new_states_;
  const Slot temporaries_;
};

bool is_parameters(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::parameter || buffer.buffer_class == BufferClass::parameter_shard;
}
bool is_gradients(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard;
}

// The state buffer of the parameters' unit in this role. Frozen parameters have none.
const BufferId* find_state(const Site& site, const Buffer& parameters, BufferRole state) {
  for (const BufferId& id : site.instruction().writes) {
    const Buffer& buffer = site.buffer(id);
    if (buffer.buffer_class == BufferClass::optimizer_state && buffer.role == state &&
        buffer.unit == parameters.unit &&
        (buffer.layout == parameters.layout || buffer.layout == BufferLayout::trained_flat_shard)) {
      return &id;
    }
  }
  return nullptr;
}

// Gradients of single parameters that lie side by side in a pool are one tensor for the kernel.
bool add_to_pool(std::vector<Update>& updates, const Update& update, bool joins) {
  if (updates.empty() || updates.back().parameters != update.parameters ||
      updates.back().gradients != update.gradients)
    return false;
  std::vector<UpdatePiece>& pieces = updates.back().pieces;
  pieces.insert(pieces.end(), update.pieces.begin(), update.pieces.end());
  if (joins) pieces = joined(std::move(pieces));
  return true;
}

Status append_updates(const Site& site, BufferId parameters, std::vector<Update>& updates) {
  const Buffer& held = site.buffer(parameters);
  const TrainSpec& train = *site.run.planned.scenario.train;
  Update update;
  update.parameters = site.slot(parameters);
  const Buffer* like_states = nullptr;
  for (const BufferRole state : optimizer_rule(train).states) {
    const BufferId* found = find_state(site, held, state);
    if (found == nullptr) return site.defect(fmt::format("no {} for {}", to_string(state), held.name));
    update.states.push_back(site.slot(*found));
    like_states = &site.buffer(*found);
  }
  for (const BufferId id : site.instruction().reads) {
    const Buffer& gradients = site.buffer(id);
    if (!is_gradients(gradients)) continue;
    update.pieces = update_pieces(site.run, gradients, held, like_states);
    if (update.pieces.empty()) continue;
    if (gradients.dtype != held.dtype) {
      return site.defect(fmt::format("{} is {}, its gradient {} is {}", held.name, to_string(held.dtype),
                                     gradients.name, to_string(gradients.dtype)));
    }
    const bool one_by_one = train.optimizer_implementation == OptimizerImplementation::loop;
    if (one_by_one) update.pieces = by_parameter(update.pieces, held_ranges(site.run, held));
    update.gradients = site.slot(gradients.within ? gradients.within->pool : id);
    if (gradients.within) {
      for (UpdatePiece& piece : update.pieces) piece.gradient += gradients.within->first;
      if (add_to_pool(updates, update, !one_by_one)) continue;
    }
    updates.push_back(update);
  }
  return {};
}

}  // namespace

PreparedAction prepare_optimizer_step(const Site& site) {
  std::vector<Update> updates;
  std::vector<Slot> new_states;
  bool has_parameters = false;
  for (const BufferId id : site.instruction().writes) {
    if (!is_parameters(site.buffer(id))) continue;
    has_parameters = true;
    SHARDLAB_CHECK_OK(append_updates(site, id, updates));
  }
  Slot temporaries = k_no_slot;
  for (const BufferId id : site.instruction().allocates) {
    if (site.buffer(id).buffer_class == BufferClass::optimizer_state) new_states.push_back(site.slot(id));
    if (site.buffer(id).buffer_class == BufferClass::workspace) temporaries = site.slot(id);
  }
  // This rank's parts may be frozen ones alone.
  if (!has_parameters) return site.defect("updates nothing");
  return std::make_unique<OptimizerStep>(site, std::move(updates), std::move(new_states), temporaries);
}

}  // namespace shardlab
