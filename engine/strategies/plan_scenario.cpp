#include "engine/strategies/plan_scenario.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "engine/model/eager.h"
#include "engine/model/families/family.h"
#include "engine/model/freeze.h"
#include "engine/model/join_teacher.h"
#include "engine/model/lora/add_adapters.h"
#include "engine/model/loss_operators.h"
#include "engine/model/operators/operator_type.h"
#include "engine/model/precision/assign_precision.h"
#include "engine/model/wrap/wrap_modules.h"
#include "engine/passes/drop_unused_buffers.h"
#include "engine/passes/free_activations.h"
#include "engine/plan/check.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/expert_load.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/resolve_units.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/teacher_scenario.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/checkpointing.h"
#include "engine/strategies/driver.h"
#include "engine/strategies/optimizer_tail.h"
#include "engine/strategies/step_strategies.h"

namespace shardlab {
namespace {

std::map<ModuleId, UnitPrecision> precisions_of(const SettingsByModule& settings) {
  std::map<ModuleId, UnitPrecision> precisions;
  for (const auto& [module, unit] : settings) precisions.emplace(module, unit.precision);
  return precisions;
}

void describe_header(StepPlan& plan, const PlannedScenario& planned, const StepStrategies& strategies,
                     const std::string& graph_hash) {
  plan.graph_hash = graph_hash;
  plan.world_size = world_size(planned.scenario);
  plan.micro_batches = plan.phase == PlanPhase::setup ? 0 : planned.scenario.train->accumulation;
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

  Status run() {
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
    drive_step(builder, strategies, *planned_.scenario.train);
    snapshot(phase, name(), builder, strategies);
    emit_optimizer_tail(builder, strategies.student(), *planned_.scenario.train,
                        scales_loss(planned_.scenario));
    strategies.each([](Strategy& strategy) { strategy.end_of_step(); });
    snapshot(phase, std::string(to_string(PlanPass::optimizer)), builder, strategies);
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

  const std::string& name() const { return planned_.scenario.parallel->strategy; }

  PlannedScenario& planned_;
  const RunStrategies& strategies_;
  std::vector<PassSnapshot>* snapshots_;
  std::string graph_hash_;
  bool second_differs_ = false;
};

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

// What one rank would do if nobody scheduled anything: the first snapshot of the construction.
void snapshot_segments(const PlannedScenario& planned, std::vector<PassSnapshot>& snapshots) {
  StepBuilder builder(planned.graph, planned.partition, PlanPhase::steady,
                      planned.scenario.parallel->strategy);
  StepStrategies strategies(builder, make_unscheduled(builder));
  strategies.student().declare_persistent();
  drive_step(builder, strategies, *planned.scenario.train);
  StepPlan plan = builder.finish();
  describe_header(plan, planned, strategies, structure_hash(planned.graph));
  snapshots.push_back({std::string(to_string(PlanPass::segments)), std::move(plan)});
}

// A model, its units and what is set for each.
struct PreparedModel {
  ModelGraph graph;
  WrappedModules wrapped;
  SettingsByModule settings;
};

Result<PreparedModel> prepare_model(const Scenario& scenario, Backward backward) {
  PreparedModel model;
  SHARDLAB_TRY(model.graph, load_model_graph(scenario));
  SHARDLAB_TRY(model.wrapped, wrap_modules(model.graph, scenario.parallel->wrap));
  SHARDLAB_TRY(model.settings, resolve_unit_settings(scenario, model.graph, model.wrapped, backward));
  for (const ModuleId ignored : model.wrapped.ignored)
    model.settings[ignored].precision = {scenario.model->dtype, scenario.model->dtype, {}, false};
  SHARDLAB_TRY(model.graph,
               assign_precision(std::move(model.graph), precisions_of(model.settings), model.wrapped.joined));
  SHARDLAB_CHECK_OK(check_eager_tables(model.graph));
  return model;
}

// Whether the plan tells the end of the root's forward from the end of the loss, because the root gives its
// parameters back in between.
bool root_ends_before_loss(const PreparedModel& model) {
  return model.settings.at(ModuleId{0}).reshard_after_forward.frees(true);
}

// Keys of the teacher's scenario, which the error names, as they stand in the file.
Error in_teacher(Error error) {
  if (is_key_of_teacher(error.place.name)) error.place.name = teacher_key(error.place.name);
  return error;
}

Status add_teacher(PreparedModel& model, const Scenario& scenario, const DistillationSpec& distillation) {
  Result<PreparedModel> teacher = prepare_model(scenario, Backward::never);
  if (!teacher) return fail(in_teacher(std::move(teacher).error()));
  SHARDLAB_TRY(model.graph, join_teacher(std::move(model.graph), teacher->graph,
                                         {distillation.temperature, distillation.weight}));
  const auto joined = [&](ModuleId own) { return joined_module(model.graph, own); };
  for (const ModuleId id : teacher->wrapped.units) model.wrapped.units.push_back(joined(id));
  for (const ModuleId id : teacher->wrapped.ignored) model.wrapped.ignored.push_back(joined(id));
  for (JoinedModules modules : teacher->wrapped.joined) {
    for (ModuleId& id : modules) id = joined(id);
    model.wrapped.joined.push_back(std::move(modules));
  }
  for (const auto& [id, settings] : teacher->settings) model.settings.emplace(joined(id), settings);
  return {};
}

}  // namespace

namespace {

Status check_experts(const MoeSpec& moe, const ModelGraph& graph) {
  const bool experts = has_experts(graph);
  if (!experts && moe.load.kind != MoeLoadKind::balanced)
    return bad_input("model.moe.load", "this model has no experts over which tokens could spread",
                     "leave it out");
  if (!experts && moe.auxiliary_loss)
    return bad_input("model.moe.auxiliary_loss", "this model has no routers", "leave it out");
  return check_expert_shares(graph);
}

// Buffers of modules are rotary frequencies, which not every family has.
Status check_buffers(const ModelConfig& config, const GraphOptions& options, const ModelGraph& graph) {
  if (options.buffer_dtype == DType::float32) return {};
  GraphOptions as_stored = options;
  as_stored.buffer_dtype = DType::float32;
  SHARDLAB_TRY(const ModelGraph other, build_model_graph(config, as_stored));
  if (structure_hash(other) != structure_hash(graph)) return {};
  return bad_input("precision.buffer",
                   "has no effect: this model has no buffers, which would be rotary frequencies",
                   "leave it out");
}

}  // namespace

Result<ModelGraph> load_model_graph(const Scenario& scenario) {
  SHARDLAB_TRY(const std::filesystem::path path, resolve_model_config(scenario, *scenario.model));
  SHARDLAB_TRY(const ModelConfig config, ModelConfig::read(path, scenario.model->overrides));
  GraphOptions options;
  options.micro_batch = scenario.train->micro_batch;
  options.sequence_length = scenario.model->sequence_length;
  options.stored_dtype = scenario.model->dtype;
  options.compute_dtype = scenario.precision->param.value_or(scenario.model->dtype);
  options.buffer_dtype = scenario.precision->buffer.value_or(DType::float32);
  SHARDLAB_TRY(options.expert_shares, expert_shares(scenario));
  if (scenario.model->moe.load.kind == MoeLoadKind::worst) options.expert_load = ExpertLoad::worst;
  if (!options.expert_shares.empty()) options.expert_load = ExpertLoad::stated;
  options.router_loss = scenario.model->moe.auxiliary_loss;
  options.implementation = scenario.model->implementation;
  SHARDLAB_TRY(ModelGraph graph, build_model_graph(config, options));
  SHARDLAB_CHECK_OK(check_experts(scenario.model->moe, graph));
  SHARDLAB_CHECK_OK(check_buffers(config, options, graph));
  SHARDLAB_TRY(graph, add_adapters(std::move(graph), scenario.model->lora));
  const LossSpec& loss = scenario.model->loss;
  if (loss.kind == LossKind::chunked) SHARDLAB_CHECK_OK(chunk_loss(graph, loss.over, loss.chunks));
  SHARDLAB_CHECK_OK(freeze_parameters(graph, scenario.model->frozen));
  return graph;
}

Result<PlannedScenario> plan_scenario(const Scenario& scenario, std::vector<PassSnapshot>* snapshots) {
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
  if (root_ends_before_loss(model)) cuts.push_back(first_loss_operator(planned.graph));
  planned.partition = make_partition(planned.graph, model.wrapped.units, cuts, regions, model.wrapped.ignored,
                                     model.wrapped.joined);
  SHARDLAB_CHECK_OK(check_regions(scenario, planned.graph, planned.partition));
  for (Unit& unit : planned.partition.units) unit.settings = model.settings.at(unit.modules.front());
  if (snapshots != nullptr) snapshot_segments(planned, *snapshots);
  SHARDLAB_CHECK_OK(RunPlanner(planned, strategies, snapshots).run());
  SHARDLAB_CHECK_OK(check_measured_steps(planned));
  return planned;
}

}  // namespace shardlab
