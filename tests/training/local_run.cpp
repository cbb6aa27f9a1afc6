#include "tests/training/local_run.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <barrier>
#include <limits>
#include <mutex>
#include <thread>

#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

constexpr double k_infinite = std::numeric_limits<double>::infinity();

PlannedScenario plan_or_fail(const Result<Scenario>& scenario) {
  REQUIRE_OK(scenario);
  Result<PlannedScenario> planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return *std::move(planned);
}

struct Rank {
  RankExecutorOptions options;
  std::unique_ptr<RankExecutor> executor;
  Status result;
};

Status run_rank(const PlannedScenario& planned, const Rendezvous& rendezvous, const RankBody& body,
                Rank& rank) {
  at::set_num_threads(1);
  SHARDLAB_TRY(rank.options.communicators,
               connect_groups(rendezvous, groups_of(planned, rank.options.rank), rank.options.rank));
  SHARDLAB_TRY(rank.executor, RankExecutor::create(planned, rank.options));
  SHARDLAB_CHECK_OK(rank.executor->setup());
  return body(*rank.executor, rank.options.rank);
}

bool gradients_are_complete(const StepPlan& plan, InstructionId id) {
  const InstructionKind kind = plan.instruction(id).kind;
  if (kind == InstructionKind::GradientNorms) return true;
  if (kind != InstructionKind::OptimizerStep) return false;
  bool updates = false;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind == InstructionKind::GradientNorms) return false;
    if (updates && instruction.kind == InstructionKind::Backward) return false;  // never all at once
    updates = updates || instruction.kind == InstructionKind::OptimizerStep;
  }
  return true;
}

}  // namespace

PlannedScenario planned_file(const std::string& file_below_scenarios,
                             std::span<const std::string> overrides) {
  return plan_or_fail(read_scenario(source_folder() / "scenarios" / file_below_scenarios, overrides));
}

PlannedScenario planned_text(const std::string& yaml, std::span<const std::string> overrides) {
  return plan_or_fail(
      parse_scenario(yaml, (source_folder() / "tests/training/scenario.yaml").string(), overrides));
}

Status run_ranks(const PlannedScenario& planned, const RankBody& body, const StepObserver& observer,
                 std::span<MemoryLedger> ledgers, const MakeBackend& make_backend) {
  install_counting_allocator();
  const Rendezvous rendezvous = Rendezvous::in_process();
  std::vector<Rank> ranks(static_cast<std::size_t>(planned.plan.steady.world_size));
  // Nobody leaves before all are done: a peer may still be connecting.
  std::barrier all_done(static_cast<std::ptrdiff_t>(ranks.size()));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].options.rank = static_cast<int>(i);
    ranks[i].options.observer = observer;
    if (make_backend) ranks[i].options.backend = make_backend();
    if (!ledgers.empty()) ranks[i].options.ledger = ledgers[i];
    threads.emplace_back([&, &rank = ranks[i]] {
      rank.result = run_rank(planned, rendezvous, body, rank);
      all_done.arrive_and_wait();
      rank.executor.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Rank& rank : ranks) {
    if (!rank.result) return rank.result;
  }
  return {};
}

Result<Trained> train(const PlannedScenario& planned, int steps, const MakeBackend& make_backend) {
  Trained trained;
  trained.losses.resize(static_cast<std::size_t>(steps));
  std::mutex mutex;  // of `trained` and `failed`
  std::optional<Error> failed;
  const int world = planned.plan.steady.world_size;

  const auto collect = [&](RankExecutor& executor, bool gradients, NamedTensors& into) -> Status {
    for (const Parameter& parameter : planned.graph.parameters) {
      if (gradients && !parameter.trainable) continue;
      SHARDLAB_TRY(at::Tensor whole, gradients ? executor.full_gradient(parameter.name)
                                               : executor.full_parameter(parameter.name));
      const std::lock_guard lock(mutex);
      into[parameter.name] = whole;
    }
    return {};
  };
  const StepObserver observer = [&](RankExecutor& executor, const StepPlan& plan, InstructionId id) {
    if (executor.steps() != 0 || plan.phase == PlanPhase::setup || !gradients_are_complete(plan, id)) return;
    if (const Status collected = collect(executor, true, trained.gradients); !collected) {
      const std::lock_guard lock(mutex);
      failed = collected.error();
    }
  };
  const RankBody body = [&](RankExecutor& executor, int rank) -> Status {
    SHARDLAB_CHECK_OK(collect(executor, false, trained.initial));
    for (int step = 0; step < steps; ++step) {
      SHARDLAB_TRY(const RankTrace trace, executor.step());
      const std::lock_guard lock(mutex);
      if (!trace.loss) return internal_error("train", "a step without a loss");
      trained.losses[static_cast<std::size_t>(step)] += *trace.loss / world;
      if (rank == 0 && trace.gradient_norm) trained.gradient_norms.push_back(*trace.gradient_norm);
    }
    return collect(executor, false, trained.parameters);
  };
  SHARDLAB_CHECK_OK(run_ranks(planned, body, observer, {}, make_backend));
  if (failed) return fail(*failed);
  return trained;
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return k_infinite;
  const double scale = b.to(at::kDouble).abs().max().item<double>();
  const double difference = (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
  if (!(difference < k_infinite) || !(scale < k_infinite)) return k_infinite;
  return scale > 0 ? difference / scale : difference;
}

WorstTensor worst_difference(const NamedTensors& a, const NamedTensors& b) {
  WorstTensor worst{"(names differ)", k_infinite};
  if (a.size() != b.size() || a.empty()) return worst;
  worst = {"", -1};
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end()) return {name, k_infinite};
    const double difference = relative_difference(tensor, other->second);
    if (difference > worst.difference) worst = {name, difference};
  }
  return worst;
}

bool bitwise_equal(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size() || a.empty()) return false;
  for (const auto& [name, tensor] : a) {
    const auto other = b.find(name);
    if (other == b.end() || tensor.scalar_type() != other->second.scalar_type() ||
        !at::equal(tensor, other->second))
      return false;
  }
  return true;
}

}  // namespace shardlab::test
