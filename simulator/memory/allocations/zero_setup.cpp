#include "simulator/memory/allocations/zero_setup.h"

#include <algorithm>
#include <optional>

#include "engine/scenario/strategy_facts.h"
#include "simulator/memory/allocations/joined_storages.h"

namespace shardlab {
namespace {

// By parameter: the first of the buffers that holds it; none: it only passes.
std::vector<std::optional<BufferId>> holders(const StepPlan& plan, const std::vector<BufferId>& buffers,
                                             std::size_t parameters) {
  std::vector<std::optional<BufferId>> found(parameters);
  for (const BufferId buffer : buffers)
    for (const ParameterId held : plan.buffer(buffer).parameters)
      if (!found[held.index()]) found[held.index()] = buffer;
  return found;
}

class ZeroSetup {
 public:
  ZeroSetup(const PlannedScenario& planned, const StepPlan& plan, Bytes device, AllocationList& list)
      : planned_(planned),
        plan_(plan),
        graph_(planned.graph),
        device_(device),
        list_(list),
        joined_(joined_shards(planned, plan)) {
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
      const Instruction& instruction = plan.instructions[i];
      for (const BufferId made : instruction.allocates) {
        const BufferClass what = plan.buffer(made).buffer_class;
        if (what != BufferClass::parameter && what != BufferClass::parameter_shard) continue;
        (instruction.kind == InstructionKind::Initialize ? weights_ : masters_).push_back(made);
      }
    }
    weight_of_ = holders(plan, weights_, graph_.parameters.size());
    master_of_ = holders(plan, masters_, graph_.parameters.size());
  }

  void take() {
    if (weights_.empty()) return;
    switch (facts_of(planned_.scenario).zero_stage) {
      case 0: return take_apart();
      case 3: return take_parts();
      default: return take_flat();
    }
  }

 private:
  bool on_device(BufferId id) const { return plan_.buffer(id).space == MemorySpace::device; }
  StorageIndex block(Bytes bytes) { return list_.take(bytes, StreamId{}); }
  void pass(Bytes bytes) { list_.give(block(bytes)); }
  void give_all(const std::vector<StorageIndex>& storages) {
    for (const StorageIndex storage : storages) list_.give(storage);
  }

  DType dtype() const { return plan_.buffer(weights_.front()).dtype; }
  Bytes bytes_of_parameter(ParameterId id) const {
    return bytes_of(graph_.parameter(id).elements(), dtype());
  }
  std::vector<ParameterId> parameters(bool trained) const {
    std::vector<ParameterId> found;
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i)
      if (graph_.parameters[i].requires_grad == trained) found.push_back(make_id<ParameterId>(i));
    return found;
  }

  // The model on the device. Those that stay are put into the buffers that hold them.
  std::vector<StorageIndex> take_model(bool trained_stay) {
    std::vector<StorageIndex> passing;
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      const auto id = make_id<ParameterId>(i);
      const StorageIndex storage = block(bytes_of_parameter(id));
      const bool stays = trained_stay || !graph_.parameters[i].requires_grad;
      (stays && weight_of_[i] ? list_.held(*weight_of_[i]) : passing).push_back(storage);
    }
    return passing;
  }

  // Copied to float32 by way of a copy in the parameters' dtype. What goes to the host is widened there:
  // torch converts a copy that it waits for on the processor.
  void copy_part(BufferId master) {
    const Buffer& part = plan_.buffer(master);
    const StorageIndex copied = block(bytes_of(part.elements, dtype()));
    const bool stays = on_device(master) && part.dtype == dtype();
    if (on_device(master)) list_.held(master).push_back(stays ? copied : block(part.bytes()));
    if (!stays) list_.give(copied);
  }

  void take_flat() {
    const auto flat = std::find_if(weights_.begin(), weights_.end(), [&](BufferId id) {
      return plan_.buffer(id).layout == BufferLayout::flat;
    });
    if (flat == weights_.end() || masters_.empty()) return give_all(take_model(true));  // nothing is trained
    const Bytes bytes = plan_.buffer(*flat).bytes();
    Bytes model;
    for (const bool trained : {false, true})
      for (const ParameterId id : parameters(trained)) model += bytes_of_parameter(id);
    const std::vector<StorageIndex> whole = take_model(false);
    const bool has_room = device_ == Bytes{} || device_ - model >= bytes;
    if (!has_room) {
      give_all(whole);
      list_.empty_cache();
    }
    list_.held(*flat).push_back(block(bytes));
    if (has_room) give_all(whole);
    const BufferId master = masters_.front();
    copy_part(master);
    if (on_device(master)) pass(plan_.buffer(master).bytes());
  }

  void take_parts() {
    for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
      const auto id = make_id<ParameterId>(i);
      const StorageIndex whole = block(bytes_of_parameter(id));
      const std::optional<BufferId> shard = weight_of_[i];
      if (shard && on_device(*shard)) list_.held(*shard).push_back(block(plan_.buffer(*shard).bytes()));
      list_.give(whole);
    }
    join_shards();
    std::optional<StorageIndex> before;
    Bytes largest;
    for (const BufferId master : masters_) {
      const Bytes bytes = plan_.buffer(master).bytes();
      if (on_device(master)) largest = std::max(largest, bytes);
      before = widen(master, before);
    }
    if (before) list_.give(*before);
    if (largest > Bytes{}) pass(largest);
  }

  void join_shards() {
    if (joined_.empty()) return;
    Bytes all;
    for (const BufferId shard : joined_) {
      all += plan_.buffer(shard).bytes();
      give_all(std::exchange(list_.held(shard), {}));
    }
    list_.empty_cache();
    list_.held(joined_.front()).push_back(block(all));
  }

  // The widened part lives until the next one is there.
  std::optional<StorageIndex> widen(BufferId master, std::optional<StorageIndex> before) {
    const Buffer& part = plan_.buffer(master);
    if (!on_device(master)) {
      if (part.dtype != dtype() && !joined_.empty()) pass(part.bytes());
      return before;
    }
    std::optional<StorageIndex> wide;
    if (part.dtype != dtype()) wide = block(part.bytes());
    if (before) list_.give(*before);
    list_.held(master).push_back(block(part.bytes()));
    return wide;
  }

  // States, and what the optimizer's lists hold: so many numbers a parameter, in float32.
  std::int64_t vectors_of_optimizer() const {
    Bytes all, taken;
    for (const BufferId master : masters_) all += plan_.buffer(master).bytes();
    const StepPlan& first = planned_.plan.first;
    for (const Instruction& instruction : first.instructions) {
      if (instruction.kind != InstructionKind::OptimizerStep) continue;
      for (const BufferId made : instruction.allocates) taken += first.buffer(made).bytes();
    }
    return all == Bytes{} ? 0 : taken.value / all.value;
  }

  void take_apart() {
    if (masters_.empty()) return;
    std::vector<StorageIndex> passing = take_model(true);
    for (const ParameterId id : parameters(true)) {
      const StorageIndex copied = block(bytes_of_parameter(id));
      const StorageIndex wide = block(bytes_of(graph_.parameter(id).elements(), DType::float32));
      const std::optional<BufferId> master = master_of_[id.index()];
      (master ? list_.held(*master) : passing).push_back(wide);
      list_.give(copied);
    }
    for (const ParameterId id : parameters(true)) passing.push_back(block(bytes_of_parameter(id)));
    for (int i = 0; i < 1 + vectors_of_optimizer(); ++i)
      for (const ParameterId id : parameters(true))
        passing.push_back(block(bytes_of(graph_.parameter(id).elements(), DType::float32)));
    give_all(passing);
  }

  const PlannedScenario& planned_;
  const StepPlan& plan_;
  const ModelGraph& graph_;
  const Bytes device_;
  AllocationList& list_;
  const std::vector<BufferId> joined_;                          // the shards that lie in one tensor
  std::vector<BufferId> weights_, masters_;                     // in the order in which the setup makes them
  std::vector<std::optional<BufferId>> weight_of_, master_of_;  // by parameter
};

}  // namespace

bool is_zero_setup(const PlannedScenario& planned, const StepPlan& plan) {
  return plan.phase == PlanPhase::setup && facts_of(planned.scenario).framework == Framework::deepspeed;
}

void take_zero_setup(const PlannedScenario& planned, const StepPlan& setup, Bytes device,
                     AllocationList& list) {
  ZeroSetup(planned, setup, device, list).take();
}

}  // namespace shardlab
