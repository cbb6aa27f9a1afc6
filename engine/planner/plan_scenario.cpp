#include "engine/planner/plan_scenario.h"

#include <utility>

#include <fmt/format.h>

#include "engine/base/limits/no_memory.h"
#include "engine/model/loss_operators.h"
#include "engine/model/operators/operator_type.h"
#include "engine/planner/load_model.h"
#include "engine/planner/prepare_model.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/strategies/checkpointing.h"

namespace shardlab {
namespace {

// The last step of a run must be a steady one, or nothing is measured.
Status check_measured_steps(const PlannedScenario& planned) {
  const MeasureSpec& measure = *planned.scenario.measure;
  const std::int64_t needed = planned.plan.first_steady_step() + 1;
  if (measure.warmup_steps + measure.steps >= needed) return {};
  return bad_input("measure.steps",
                   fmt::format("{} warm-up and {} measured steps end before the first steady one, the {}",
                               measure.warmup_steps, measure.steps, needed == 2 ? "second" : "third"),
                   "raise one of the two");
}

// Whether the plan tells the end of the root's forward from the end of the loss: as the scenario says, else
// where the root gives its parameters back in between.
bool root_ends_before_loss(const Scenario& scenario, const PreparedModel& model) {
  if (const auto& place = scenario.model->loss.place) return *place == LossPlace::outside;
  return model.settings.at(ModuleId{0}).reshard_after_forward.frees(true);
}

// A loss over parts of the tokens reads the teacher's head when the teacher's forward is over.
Status check_teachers_head(const PlannedScenario& planned) {
  const Partition& partition = planned.partition;
  for (const Segment& segment : partition.segments) {
    if (partition.unit(segment.unit).teacher) continue;
    for (const ParameterId parameter : segment.parameters) {
      const Unit& unit = partition.unit(partition.unit_of_parameter[parameter.index()]);
      const bool is_root = unit.modules.front() == planned.graph.teacher->root;
      if (!unit.teacher || !unit.settings.reshard_after_forward.frees(is_root)) continue;
      return bad_input("distillation.teacher.parallel.reshard_after_forward",
                       "gives the teacher's head back before model.loss: chunked reads it",
                       "leave it out, and the head to the root: the root stays gathered");
    }
  }
  return {};
}

Result<PlannedScenario> plan_as_chosen(const Scenario& scenario, std::vector<PassSnapshot>* snapshots) {
  PlannedScenario planned;
  planned.scenario = scenario;
  SHARDLAB_TRY(const RunStrategies strategies, find_run_strategies(planned.scenario));
  const StrategyType& type = strategies.type;
  SHARDLAB_TRY(PreparedModel model, prepare_model(scenario, Backward::follows));
  if (type.require_gradients != nullptr && trainable_parameters(model.graph) < total_parameters(model.graph))
    SHARDLAB_CHECK_OK(type.require_gradients(
        model.graph, scenario,
        make_partition(model.graph, model.wrapped.units, {}, {}, model.wrapped.ignored)));
  if (strategies.teacher) SHARDLAB_CHECK_OK(add_teacher(model, *strategies.teacher, *scenario.distillation));
  planned.graph = std::move(model.graph);
  SHARDLAB_TRY(const std::vector<CheckpointRegion> regions, regions_of(scenario, planned.graph));
  std::vector<OperatorId> cuts = type.cuts(planned.graph, scenario);
  if (root_ends_before_loss(scenario, model)) cuts.push_back(first_loss_operator(planned.graph));
  planned.partition = make_partition(planned.graph, model.wrapped.units, cuts, regions, model.wrapped.ignored,
                                     model.wrapped.joined);
  SHARDLAB_CHECK_OK(check_regions(scenario, planned.graph, planned.partition));
  if (type.check_units != nullptr)
    SHARDLAB_CHECK_OK(type.check_units(scenario, planned.graph, planned.partition));
  for (Unit& unit : planned.partition.units) unit.settings = model.settings.at(unit.modules.front());
  if (strategies.teacher) SHARDLAB_CHECK_OK(check_teachers_head(planned));
  SHARDLAB_CHECK_OK(plan_run(planned, strategies, snapshots));
  SHARDLAB_CHECK_OK(check_measured_steps(planned));
  return planned;
}

}  // namespace

Result<PlannedScenario> plan_scenario(const Scenario& scenario, std::vector<PassSnapshot>* snapshots) {
  const auto need = [&] {
    return MemoryNeed{fmt::format("planning steps of {} micro-batches", micro_batches_of_step(scenario)),
                      "lower train.accumulation, or the number of layers"};
  };
  const auto plan = [&](const Scenario& chosen) {
    Result<PlannedScenario> planned = plan_as_chosen(chosen, snapshots);
    if (planned) planned->scenario = scenario;
    return planned;
  };
  return with_memory_for(need, [&] { return with_form_of_model<PlannedScenario>(scenario, plan); });
}

}  // namespace shardlab
