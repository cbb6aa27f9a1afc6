#include "engine/planner/plan_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/base/limits/no_memory.h"
#include "engine/passes/drop_unused_buffers.h"
#include "engine/passes/free_activations.h"
#include "engine/plan/check.h"
#include "engine/planner/check_micro_batches.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/strategies/driver.h"
#include "engine/strategies/optimizer_tail.h"

namespace shardlab {
namespace {

void describe_header(StepPlan& plan, const PlannedScenario& planned, const StepStrategies& strategies,
                     const std::string& graph_hash) {
  plan.graph_hash = graph_hash;
  plan.world_size = world_size(planned.scenario);
  plan.micro_batches = plan.phase == PlanPhase::setup ? 0 : micro_batches_of_step(planned.scenario);
  for (std::size_t i = 0; i < planned.partition.units.size(); ++i) {
    const Unit& unit = planned.partition.units[i];
    const auto id = make_id<UnitId>(i);
    plan.units.push_back({unit.name, unit.path(planned.graph), unit.elements(planned.graph),
                          strategies.owner(id).padded_elements(id)});
  }
  for (const Segment& segment : planned.partition.segments) {
    const SegmentPrograms& programs = segment.programs;
    PlanSegment described{segment.name,
                          segment.unit,
                          segment.begin,
                          segment.end,
                          programs.forward.peak,
                          programs.backward.peak,
                          {},
                          {}};
    if (!programs.recompute.steps.empty()) {
      described.recompute_end =
          std::min(segment.end, planned.partition.region(*segment.region).operators.stop);
      described.recompute_peak = programs.recompute.peak;
    }
    plan.segments.push_back(std::move(described));
  }
}

class RunPlanner {
 public:
  RunPlanner(PlannedScenario& planned, const RunStrategies& strategies, std::vector<PassSnapshot>* snapshots)
      : planned_(planned),
        strategies_(strategies),
        snapshots_(snapshots),
        graph_hash_(structure_hash(planned.graph)) {}

  Status plan_all_steps() {
    planned_.plan.setup = setup();
    RunPlan& plan = planned_.plan;
    plan.first = step(PlanPhase::first, {});
    if (!second_differs_) plan.steady = step(PlanPhase::steady, plan.first);
    if (second_differs_ || !follows_itself(plan.steady)) {
      plan.second = step(PlanPhase::second, plan.first);
      plan.steady = step(PlanPhase::steady, *plan.second);
    }
    return check_run(plan);
  }

 private:
  StepPlan setup() {
    StepBuilder builder(planned_.graph, planned_.partition, PlanPhase::setup, name());
    builder.set_pass(name());
    StepStrategies strategies(builder, strategies_, planned_.scenario);
    strategies.each([](Strategy& strategy) { strategy.declare_persistent(); });
    builder.set_pass(PlanPass::constants);
    for (std::size_t i = 0; i < planned_.graph.tensors.size(); ++i) {
      if (planned_.graph.tensors[i].role != TensorRole::constant) continue;
      const BufferId buffer = builder.value_buffer(make_id<TensorId>(i), 0);
      builder.plan().buffers[buffer.index()].carried = false;
      Instruction fill;
      fill.kind = InstructionKind::Initialize;
      fill.bytes = builder.plan().buffer(buffer).bytes();
      fill.writes = fill.allocates = {buffer};
      builder.emit(std::move(fill));
    }
    return describe(builder.finish(), strategies);
  }

  // Does the plan leave what it took over? Buffers are compared by check_run.
  static bool follows_itself(const StepPlan& plan) {
    return std::equal(plan.left_events.begin(), plan.left_events.end(), plan.taken_events.begin(),
                      plan.taken_events.end(),
                      [](const LeftEvent& left, const std::string& taken) { return left.name == taken; });
  }

  StepPlan step(PlanPhase phase, const StepPlan& before) {
    StepBuilder builder(planned_.graph, planned_.partition, phase, name());
    for (const LeftEvent& event : before.left_events) builder.plan().taken_events.push_back(event.name);
    StepStrategies strategies(builder, strategies_, planned_.scenario);
    strategies.each([](Strategy& strategy) { strategy.declare_persistent(); });
    second_differs_ = strategies.second_step_differs();
    scheduled_ = 0;
    return with_memory_for([&] { return need(builder); },
                           [&] { return scheduled(builder, strategies, phase); });
  }

  // What the planning of a step is about that gets no memory. A builder that has handed its plan on is empty.
  MemoryNeed need(StepBuilder& builder) const {
    const StepPlan& plan = builder.plan();
    return {fmt::format("planning the {} step: {} instructions so far, {} layers, {} micro-batches",
                        to_string(plan.phase), std::max(scheduled_, plan.instructions.size()),
                        planned_.graph.layers, micro_batches_of_step(planned_.scenario)),
            "lower train.accumulation, or the number of layers"};
  }

  StepPlan scheduled(StepBuilder& builder, StepStrategies& strategies, PlanPhase phase) {
    drive_step(builder, strategies, planned_.scenario);
    snapshot(phase, name(), builder, strategies);
    emit_optimizer_tail(builder, strategies.student(), *planned_.scenario.train,
                        scales_loss(planned_.scenario));
    strategies.each([](Strategy& strategy) { strategy.end_of_step(); });
    snapshot(phase, std::string(to_string(PlanPass::optimizer)), builder, strategies);
    scheduled_ = builder.plan().instructions.size();
    StepPlan plan = describe(drop_unused_buffers(free_activations(builder.finish())), strategies);
    if (snapshots_ != nullptr && phase == PlanPhase::steady)
      snapshots_->push_back({std::string(to_string(PlanPass::free_activations)), plan});
    return plan;
  }

  void snapshot(PlanPhase phase, std::string pass, StepBuilder& builder, const StepStrategies& strategies) {
    if (snapshots_ == nullptr || phase != PlanPhase::steady) return;
    snapshots_->push_back({std::move(pass), describe(builder.plan(), strategies)});
  }

  StepPlan describe(StepPlan plan, const StepStrategies& strategies) const {
    describe_header(plan, planned_, strategies, graph_hash_);
    return plan;
  }

  const std::string& name() const { return strategy_name(planned_.scenario); }

  PlannedScenario& planned_;
  const RunStrategies& strategies_;
  std::vector<PassSnapshot>* snapshots_;
  std::string graph_hash_;
  bool second_differs_ = false;
  std::size_t scheduled_ = 0;  // instructions of the step that is being planned, once all are there
};

// What one rank would do if nobody scheduled anything: the first snapshot of the construction.
void snapshot_segments(const PlannedScenario& planned, std::vector<PassSnapshot>& snapshots) {
  StepBuilder builder(planned.graph, planned.partition, PlanPhase::steady, strategy_name(planned.scenario));
  StepStrategies strategies(builder, make_unscheduled(builder));
  strategies.student().declare_persistent();
  drive_step(builder, strategies, planned.scenario);
  StepPlan plan = builder.finish();
  describe_header(plan, planned, strategies, structure_hash(planned.graph));
  snapshots.push_back({std::string(to_string(PlanPass::segments)), std::move(plan)});
}

}  // namespace

Status plan_run(PlannedScenario& planned, const RunStrategies& strategies,
                std::vector<PassSnapshot>* snapshots) {
  SHARDLAB_CHECK_OK(check_micro_batches(planned, strategies));
  if (snapshots != nullptr) snapshot_segments(planned, *snapshots);
  return RunPlanner(planned, strategies, snapshots).plan_all_steps();
}

}  // namespace shardlab
