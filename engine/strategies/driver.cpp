#include "engine/strategies/driver.h"

#include <algorithm>

#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/held_logits.h"
#include "engine/strategies/optimizer_tail.h"
#include "engine/strategies/segment_emitter.h"
#include "engine/strategies/unit_extents.h"

namespace shardlab {
namespace {

// What LoadBatch brings: the graph says by their roles which tensors hold tokens and targets.
std::vector<TensorId> batch_tensors(const ModelGraph& graph) {
  std::vector<TensorId> found;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const TensorRole role = graph.tensors[i].role;
    if (role == TensorRole::tokens || role == TensorRole::targets) found.push_back(make_id<TensorId>(i));
  }
  return found;
}

class Driver {
 public:
  Driver(StepBuilder& builder, StepStrategies& strategies, const Scenario& scenario)
      : b_(builder),
        strategies_(strategies),
        student_(strategies.student()),
        train_(*scenario.train),
        loss_(scenario.model->loss),
        graph_(builder.graph()),
        partition_(builder.partition()),
        extents_(find_extents(graph_, partition_, scenario.model->loss.place == LossPlace::inside)),
        segments_(builder, strategies, scenario.activation->offload == OffloadTarget::cpu) {}

  void drive() {
    for (int micro_batch = 0; micro_batch < train_.accumulation; ++micro_batch) {
      const bool last = micro_batch + 1 == train_.accumulation;
      micro_batch_ = micro_batch;
      reduces_ = last || train_.sync == GradientSync::every;
      segments_.begin_micro_batch(micro_batch);
      load_batch();
      forward();
      const std::optional<BufferId> held = hold_logits(b_, loss_, micro_batch);
      backward();
      if (held) give_up_logits(b_, *held);
    }
  }

 private:
  void load_batch() {
    const PassScope scope(b_, PlanPass::segments);
    Instruction load;
    load.kind = InstructionKind::LoadBatch;
    load.micro_batch = micro_batch_;
    for (const TensorId tensor : batch_) {
      load.allocates.push_back(b_.value_buffer(tensor, micro_batch_));
      load.bytes += graph_.tensor(tensor).bytes();
    }
    load.writes = load.allocates;
    b_.emit(std::move(load));
  }

  void forward() {
    for (std::size_t i = 0; i < partition_.segments.size(); ++i) {
      for (const UnitId unit : extents_.enters[i]) pre_forward(unit, sense_of(i, unit));
      segments_.forward(make_id<SegmentId>(i));
      for (const UnitId unit : extents_.leaves[i]) post_forward(unit, sense_of(i, unit));
    }
  }

  // A model's own hook of a micro-batch hangs on the forward of its root.
  void pre_forward(UnitId unit, ForwardSense sense) {
    strategies_.of(unit, sense, [&](Strategy& strategy) {
      const bool begins = unit == strategy.root() && sense != ForwardSense::recomputation;
      if (begins) strategy.begin_micro_batch(micro_batch_, reduces_);
      strategy.pre_forward(unit);
    });
  }
  void post_forward(UnitId unit, ForwardSense sense) {
    strategies_.of(unit, sense, [&](Strategy& strategy) { strategy.post_forward(unit); });
  }

  // A reentrant checkpoint runs without gradients what is inside it.
  ForwardSense sense_of(std::size_t segment, UnitId unit) const {
    const Region* region = region_of(segment);
    const bool without = region != nullptr && region->operators.reentrant && is_inside(unit, *region);
    return without ? ForwardSense::without_graph : ForwardSense::ordinary;
  }

  void backward() {
    entered_backward_.assign(partition_.units.size(), false);
    for (std::size_t i = partition_.segments.size(); i-- > 0;) {
      enter_backward(i);
      if (partition_.segments[i].programs.has_backward()) {
        segments_.backward(make_id<SegmentId>(i));
        student_.gradients_ready(make_id<SegmentId>(i));
      }
      leave_backward(i);
      if (train_.optimizer_in_backward)
        emit_optimizer_in_backward(b_, student_, train_, make_id<SegmentId>(i));
    }
    student_.end_of_backward();
    if (train_.optimizer_in_backward)  // what was complete with the end alone
      emit_optimizer_in_backward(b_, student_, train_, make_id<SegmentId>(0));
  }

  // A checkpointed region is run again when backward asks for the first tensor of it: after the hooks of the
  // units through whose outputs the gradient came. Inside a reentrant one no hook waits before it was run
  // again.
  void enter_backward(std::size_t segment) {
    const Region* region = region_of(segment);
    if (region == nullptr || region->trigger.index() != segment)
      return pre_backward(segment, [](UnitId) { return true; });
    const auto hooked_now = [&](UnitId unit) {
      return !region->operators.reentrant || !is_inside(unit, *region);
    };
    pre_backward(segment, hooked_now);
    recompute(*region);
    pre_backward(segment, [&](UnitId unit) { return !hooked_now(unit); });
  }

  // A framework's hook before backward hangs on the module's outputs that require a gradient. Units that end
  // together have one output: its hooks run in the order in which they were registered.
  template <typename Predicate>
  void pre_backward(std::size_t segment, Predicate&& due) {
    std::vector<UnitId> units = extents_.leaves[segment];
    if (student_.wraps_outputs()) std::reverse(units.begin(), units.end());
    for (const UnitId unit : units) {
      if (!partition_.unit(unit).outputs_require_grad || !due(unit)) continue;
      entered_backward_[unit.index()] = true;
      student_.pre_backward(unit);
    }
  }

  void leave_backward(std::size_t segment) {
    const std::vector<UnitId>& units = extents_.enters[segment];
    for (auto id = units.rbegin(); id != units.rend(); ++id) {
      const Unit& unit = partition_.unit(*id);
      const bool hooked = unit.inputs_require_grad || unit.parameters_require_grad;
      if (*id != Partition::root() && hooked) student_.post_backward(*id);
    }
    const Region* region = region_of(segment);
    if (region != nullptr && region->first.index() == segment) segments_.drop_recomputed_outputs(*region);
  }

  // A unit that has entered its backward skips its hooks of forward: its parameters are there. What stops the
  // recomputation early does so inside such a unit. Hooks of every module run all the same, until it stops.
  void recompute(const Region& region) {
    const bool of_modules = student_.hooks_modules();
    const auto runs_hooks = [&](UnitId unit) {
      return is_inside(unit, region) && (of_modules || !entered_backward_[unit.index()]);
    };
    for (std::size_t i = region.first.index(); i <= region.last.index(); ++i) {
      if (partition_.segments[i].begin >= region.operators.stop) return stop_inside(region, i);
      for (const UnitId unit : extents_.enters[i]) {
        if (runs_hooks(unit)) pre_forward(unit, ForwardSense::recomputation);
      }
      segments_.recompute(make_id<SegmentId>(i));
      if (of_modules && region.operators.stops_in < partition_.segments[i].end) return;
      for (const UnitId unit : extents_.leaves[i]) {
        if (runs_hooks(unit)) post_forward(unit, ForwardSense::recomputation);
      }
    }
  }

  void stop_inside(const Region& region, std::size_t segment) {
    for (const UnitId unit : extents_.enters[segment]) {
      if (is_inside(unit, region) && student_.hooks_modules()) pre_forward(unit, ForwardSense::recomputation);
    }
  }

  const Region* region_of(std::size_t segment) const {
    const std::optional<RegionId> region = partition_.segments[segment].region;
    return region ? &partition_.region(*region) : nullptr;
  }
  static bool is_inside(UnitId unit, const Region& region) {
    return std::find(region.units.begin(), region.units.end(), unit) != region.units.end();
  }

  StepBuilder& b_;
  StepStrategies& strategies_;
  Strategy& student_;  // backward is its alone
  const TrainSpec& train_;
  const LossSpec& loss_;
  const ModelGraph& graph_;
  const std::vector<TensorId> batch_ = batch_tensors(graph_);
  const Partition& partition_;
  const UnitExtents extents_;
  SegmentEmitter segments_;
  int micro_batch_ = 0;
  bool reduces_ = true;                 // this micro-batch
  std::vector<bool> entered_backward_;  // by UnitId, in this micro-batch
};

}  // namespace

void drive_step(StepBuilder& builder, StepStrategies& strategies, const Scenario& scenario) {
  Driver(builder, strategies, scenario).drive();
}

}  // namespace shardlab
