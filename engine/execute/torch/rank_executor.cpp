#include "engine/execute/torch/rank_executor.h"

#include <algorithm>
#include <exception>
#include <numeric>

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "engine/execute/learning_rate.h"
#include "engine/execute/torch/first_line.h"
#include "engine/execute/torch/instructions/parameter_ranges.h"
#include "engine/checkpoint/model_weights.h"
#include "engine/execute/torch/step_runner.h"
#include "engine/plan/group_ranks.h"

namespace shardlab {

RunState::RunState(const PlannedScenario& scenario, int world_rank)
    : planned(scenario), rank(world_rank), buffers(scenario.graph, c10::Device(c10::kCPU)) {}

struct RankExecutor::State {
  State(const PlannedScenario& planned, RankExecutorOptions given)
      : run(planned, given.rank), options(std::move(given)), runner(run, options.ledger) {
    run.communicators = options.communicators;
  }

  RunState run;
  RankExecutorOptions options;
  StepRunner runner;
  PreparedPlan setup, first, steady;
  const PreparedPlan* current = nullptr;
  std::int64_t steps = 0;

  const ModelGraph& graph() const { return run.planned.graph; }

  void find_shard_group() {
    for (const Group& group : run.planned.plan.steady.groups) {
      if (group.expression != "shard") continue;
      const std::vector<int> ranks = ranks_of_group(group, run.planned.scenario, run.rank);
      run.shard_group = group.size;
      run.shard_rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), run.rank) - ranks.begin());
    }
  }

  Status prepare() {
    find_shard_group();
    const Scenario& scenario = run.planned.scenario;
    if (!scenario.train.data.empty()) {
      SHARDLAB_TRY(run.data, TrainingData::open(scenario, graph().vocabulary));
    }
    if (!scenario.model.weights.empty()) {
      SHARDLAB_TRY(run.weights, open_model_weights(scenario, graph()));
    }
    const RunPlan& plan = run.planned.plan;
    SHARDLAB_TRY(setup, prepare_plan(run, plan.setup));
    SHARDLAB_TRY(first, prepare_plan(run, plan.first));
    SHARDLAB_TRY(steady, prepare_plan(run, plan.steady));
    return {};
  }

  Result<ParameterId> find_parameter(std::string_view name) const {
    for (std::size_t i = 0; i < graph().parameters.size(); ++i) {
      if (graph().parameters[i].name == name) return make_id<ParameterId>(i);
    }
    return bad_input("parameter", fmt::format("the model has no parameter '{}'", name));
  }

  // The whole parameter from a live buffer of one of the classes.
  Result<at::Tensor> gather(std::string_view name, std::initializer_list<BufferClass> classes) {
    SHARDLAB_TRY(const ParameterId parameter, find_parameter(name));
    if (current == nullptr) return internal_error(std::string(name), "no plan has run yet");
    for (std::size_t i = 0; i < current->slots.size(); ++i) {
      const Buffer& buffer = current->plan->buffers[i];
      const bool holds = std::find(buffer.parameters.begin(), buffer.parameters.end(), parameter) != buffer.parameters.end();
      const bool wanted = std::find(classes.begin(), classes.end(), buffer.buffer_class) != classes.end();
      if (holds && wanted && run.buffers.is_alive(current->slots[i])) return whole(current->slots[i], buffer, parameter);
    }
    return internal_error(std::string(name), "no live buffer holds it");
  }

  at::Tensor whole(Slot slot, const Buffer& buffer, ParameterId parameter) {
    runner.settle(slot);
    const at::Tensor flat = run.buffers.tensor(slot);
    const Shape& shape = graph().parameter(parameter).shape;
    const ParameterLayout layout = run.layout(buffer);
    const ParameterPiece piece = *std::find_if(layout.pieces.begin(), layout.pieces.end(),
                                               [&](const ParameterPiece& p) { return p.parameter == parameter; });
    if (buffer.layout == BufferLayout::parameters) return flat.narrow(0, piece.offset, piece.elements()).view(shape).clone();
    const at::Tensor own = flat.narrow(0, piece.shard_offset, piece.shard_elements());
    const at::Tensor gathered = at::empty({piece.shard_elements() * layout.group}, flat.options());
    const auto found = run.communicators.find("shard");
    if (layout.group > 1 && found != run.communicators.end()) {
      found->second->all_gather(gathered, own)->wait();
    } else {
      gathered.copy_(own);
    }
    return gathered.narrow(0, 0, piece.elements()).view(shape).clone();
  }
};

RankExecutor::RankExecutor(std::unique_ptr<State> state) : state_(std::move(state)) {}
RankExecutor::~RankExecutor() = default;

Result<std::unique_ptr<RankExecutor>> RankExecutor::create(const PlannedScenario& planned, RankExecutorOptions options) {
  auto state = std::make_unique<State>(planned, std::move(options));
  SHARDLAB_CHECK_OK(state->prepare());
  return std::unique_ptr<RankExecutor>(new RankExecutor(std::move(state)));
}

Status RankExecutor::setup() {
  const c10::InferenceMode no_autograd;
  const LedgerScope booked(state_->options.ledger);
  StepContext context;
  RankTrace trace;
  state_->current = &state_->setup;
  return state_->runner.run(state_->setup, context, trace, {});
}

Result<RankTrace> RankExecutor::step() {
  const c10::InferenceMode no_autograd;
  const LedgerScope booked(state_->options.ledger);
  State& s = *state_;
  const Scenario& scenario = s.run.planned.scenario;
  s.current = s.steps == 0 ? &s.first : &s.steady;
  StepContext context;
  context.step = s.steps;
  context.learning_rate = learning_rate(scenario.train, s.steps, scenario.measure.warmup_steps + scenario.measure.steps);
  StepRunner::Before before;
  if (s.options.observer) {
    before = [&](InstructionId id) { s.options.observer(*this, *s.current->plan, id); };
  }
  RankTrace trace;
  trace.rank = s.run.rank;
  SHARDLAB_CHECK_OK(s.runner.run(*s.current, context, trace, before));
  if (!context.losses.empty()) {
    trace.loss = std::accumulate(context.losses.begin(), context.losses.end(), 0.0) / static_cast<double>(context.losses.size());
  }
  trace.gradient_norm = context.gradient_norm;
  ++s.steps;
  return trace;
}

std::int64_t RankExecutor::steps() const { return state_->steps; }

Nanoseconds RankExecutor::last_step_began() const { return state_->runner.began(); }

Bytes RankExecutor::communication_workspace() const {
  Bytes sum;
  for (const auto& [expression, communicator] : state_->run.communicators) {
    if (communicator) sum += communicator->workspace();
  }
  return sum;
}

namespace {

// What callers look at is theirs, not the run's: it is not booked.
template <typename Function>
Result<at::Tensor> guarded(std::string_view name, Function function) {
  const c10::InferenceMode no_autograd;
  const MemoryLedger uncounted;
  const LedgerScope scope(uncounted);
  try {
    return function();
  } catch (const std::exception& error) {
    return run_failed(std::string(name), first_line(error.what()));
  }
}

}  // namespace

Result<at::Tensor> RankExecutor::full_parameter(std::string_view name) {
  return guarded(name, [&] { return state_->gather(name, {BufferClass::parameter, BufferClass::parameter_shard}); });
}

Result<at::Tensor> RankExecutor::full_gradient(std::string_view name) {
  return guarded(name, [&] { return state_->gather(name, {BufferClass::gradient, BufferClass::gradient_shard}); });
}

at::Tensor RankExecutor::buffer(std::string_view name) {
  const std::optional<Slot> slot = state_->run.buffers.find(name);
  if (!slot) return {};
  state_->runner.settle(*slot);
  return state_->run.buffers.tensor(*slot);
}

}  // namespace shardlab
