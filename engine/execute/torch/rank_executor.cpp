#include "engine/execute/torch/rank_executor.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <c10/core/InferenceMode.h>

#include "engine/checkpoint/model_weights.h"
#include "engine/execute/run_steps.h"
#include "engine/execute/step_scalars.h"
#include "engine/execute/swap_place.h"
#include "engine/execute/torch/communication/sum_parts.h"
#include "engine/execute/torch/host/host_backend.h"
#include "engine/execute/torch/step_runner.h"
#include "engine/execute/torch/whole_parameter.h"
#include "engine/model/join_teacher.h"
#include "engine/plan/group_ranks.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/teacher_scenario.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {

RunState::RunState(const PlannedScenario& scenario, int world_rank,
                   std::shared_ptr<ExecutionBackend> works_on)
    : planned(scenario),
      rank(world_rank),
      backend(std::move(works_on)),
      buffers(scenario.graph, backend->device()) {}

struct RankExecutor::State {
  State(const PlannedScenario& planned, RankExecutorOptions given)
      : run(planned, given.rank, given.backend ? given.backend : make_host_backend()),
        options(std::move(given)),
        runner(run, options.ledger, options.jitter) {
    run.buffers.poison_what_is_allocated(options.poison);
    run.communicators = options.communicators;
    run.memory_limit = options.memory_limit;
  }

  RunState run;
  RankExecutorOptions options;
  StepRunner runner;
  std::map<const StepPlan*, PreparedPlan> plans;
  const PreparedPlan* current = nullptr;
  std::int64_t steps = 0;
  std::optional<OutOfMemory> out_of_memory;

  const ModelGraph& graph() const { return run.planned.graph; }
  // A teacher whose mesh is the student's shares its group.
  void find_shard_groups() {
    for (const Group& group : run.planned.plan.steady.groups) {
      if (group.ranks.dimension != GroupDimension::shard || group.ranks.part > 0) continue;
      const std::vector<int> ranks = ranks_of_group(group, run.planned.scenario, run.rank);
      const auto place = static_cast<int>(std::find(ranks.begin(), ranks.end(), run.rank) - ranks.begin());
      if (!group.ranks.teachers) run.shard_rank = place;
      run.teachers_shard_rank = place;
    }
  }

  Status open_drive() {
    const std::vector<Buffer>& buffers = run.planned.plan.steady.buffers;
    const auto on_drive = [](const Buffer& buffer) { return buffer.space == MemorySpace::disk; };
    if (std::none_of(buffers.begin(), buffers.end(), on_drive)) return {};
    SHARDLAB_TRY(run.drive, open_swap_drive(run.planned.scenario, options.run, run.rank));
    run.buffers.put_files_on(run.drive);
    return {};
  }

  Status open_weights() {
    const Scenario& scenario = run.planned.scenario;
    run.student.names = parameters_of_student(graph());
    if (!scenario.model->weights.empty()) {
      SHARDLAB_TRY(run.student.weights, open_model_weights(scenario, run.student.names));
    }
    if (!scenario.distillation) return {};
    run.teacher.names = parameters_of_teacher(graph());
    run.teacher.first_parameter = graph().teacher->first_parameter.index();
    if (!scenario.distillation->teacher.model->weights.empty()) {
      SHARDLAB_TRY(run.teacher.weights, open_model_weights(teacher_scenario(scenario), run.teacher.names));
    }
    return {};
  }

  Status prepare() {
    find_shard_groups();
    const Scenario& scenario = run.planned.scenario;
    if (!scenario.train->data.empty()) {
      SHARDLAB_TRY(run.data, TrainingData::open(scenario, graph().vocabulary));
    }
    SHARDLAB_CHECK_OK(open_weights());
    if (scales_loss(scenario)) run.loss_scale.emplace(scenario);
    if (scenario.measure->detail == MeasureDetail::operators)
      run.operator_clock.emplace(run.backend->streams());
    const RunPlan& plan = run.planned.plan;
    SHARDLAB_CHECK_OK(open_drive());
    for (const StepPlan* step : plan.all()) {
      SHARDLAB_TRY(plans[step], prepare_plan(run, *step));
    }
    return {};
  }
};

RankExecutor::RankExecutor(std::unique_ptr<State> state) : state_(std::move(state)) {}
RankExecutor::~RankExecutor() = default;

Result<std::unique_ptr<RankExecutor>> RankExecutor::create(const PlannedScenario& planned,
                                                           RankExecutorOptions options) {
  auto state = std::make_unique<State>(planned, std::move(options));
  SHARDLAB_CHECK_OK(state->prepare());
  return std::unique_ptr<RankExecutor>(new RankExecutor(std::move(state)));
}

Status RankExecutor::setup() {
  const c10::InferenceMode no_autograd;
  const LedgerScope booked(state_->options.ledger);
  StepContext context;
  context.step = -1;
  RankTrace trace;
  state_->current = &state_->plans.at(&state_->run.planned.plan.setup);
  const Status done = state_->runner.run(*state_->current, context, trace, {});
  state_->out_of_memory = context.out_of_memory;
  return done;
}

Result<RankTrace> RankExecutor::step() {
  const c10::InferenceMode no_autograd;
  const LedgerScope booked(state_->options.ledger);
  State& s = *state_;
  const Scenario& scenario = s.run.planned.scenario;
  s.current = &s.plans.at(&s.run.planned.plan.step(s.steps));
  StepContext context;
  context.step = s.steps;
  context.learning_rate = learning_rate(*scenario.train, s.steps, steps_of_run(scenario));
  StepRunner::Before before;
  if (s.options.observer) {
    before = [&](InstructionId id) { s.options.observer(*this, *s.current->plan, id); };
  }
  RankTrace trace;
  trace.rank = s.run.rank;
  const SentTotals sent_before = sent_so_far(s.run.communicators);
  const Status done = s.runner.run(*s.current, context, trace, before);
  s.out_of_memory = context.out_of_memory;
  if (!done) return fail(done.error());
  if (s.run.operator_clock) s.run.operator_clock->finish_step(s.steps >= warmup_steps(s.run.planned));
  if (!context.losses.empty()) {
    trace.loss = std::accumulate(context.losses.begin(), context.losses.end(), 0.0) /
                 static_cast<double>(context.losses.size());
  }
  trace.gradient_norm = context.gradient_norm;
  trace.sent = sent_between(sent_before, sent_so_far(s.run.communicators));
  if (s.run.loss_scale && context.overflow && !s.run.loss_scale->update(*context.overflow))
    return run_failed("step",
                      "gradients overflow although the loss scale is at scaler.minimum, where DeepSpeed ends "
                      "the run too",
                      "bfloat16 needs no scale; else look for what makes the loss diverge");
  ++s.steps;
  return trace;
}

int RankExecutor::rank() const {
  return state_->run.rank;
}

std::int64_t RankExecutor::steps() const {
  return state_->steps;
}

std::optional<double> RankExecutor::loss_scale() const {
  if (!state_->run.loss_scale) return std::nullopt;
  return state_->run.loss_scale->value();
}

Nanoseconds RankExecutor::last_step_began() const {
  return state_->runner.began();
}

const std::optional<OutOfMemory>& RankExecutor::out_of_memory() const {
  return state_->out_of_memory;
}

std::map<OperatorId, std::vector<std::int64_t>> RankExecutor::expert_counts() const {
  std::map<OperatorId, std::vector<std::int64_t>> all;
  for (const auto& [op, counts] : state_->run.expert_counts) {
    const at::Tensor here = counts.cpu();
    const auto* values = here.const_data_ptr<std::int64_t>();
    all[op].assign(values, values + here.numel());
  }
  return all;
}

std::vector<OperatorTime> RankExecutor::operator_times() const {
  return state_->run.operator_clock ? state_->run.operator_clock->mean() : std::vector<OperatorTime>();
}

Bytes RankExecutor::communication_workspace() const {
  Bytes sum;
  for (const auto& [ranks, communicator] : state_->run.communicators) {
    if (communicator) sum += communicator->workspace();
  }
  return sum;
}

Result<at::Tensor> RankExecutor::full_parameter(std::string_view name) {
  return whole_parameter(state_->run, state_->runner, state_->current, name,
                         {BufferClass::parameter, BufferClass::parameter_shard});
}

Result<at::Tensor> RankExecutor::full_gradient(std::string_view name) {
  return whole_parameter(state_->run, state_->runner, state_->current, name,
                         {BufferClass::gradient, BufferClass::gradient_shard});
}

at::Tensor RankExecutor::buffer(BufferRole role) {
  const std::optional<Slot> slot = state_->run.buffers.find(role);
  if (!slot) return {};
  state_->runner.settle();
  return state_->run.buffers.tensor(*slot);
}

}  // namespace shardlab
