#include "engine/execute/torch/rank_session.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include "engine/execute/torch/probes/probe_rank.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/execute/torch/rank_place.h"
#include "engine/execute/torch/save_results.h"
#include "engine/execute/torch/step_failure.h"
#include "engine/execute/torch/world.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

Result<Scenario> scenario_of(const RankJob& job, const RankEnvironment& environment) {
  const std::string name = job.directory.empty() ? "scenario.yaml" : job.directory + "/scenario.yaml";
  SHARDLAB_TRY(Scenario scenario, parse_scenario(job.scenario, name));
  if (environment.world == world_size(scenario)) return scenario;
  return bad_input("WORLD_SIZE",
                   fmt::format("is {}, the scenario has {} ranks", environment.world, world_size(scenario)));
}

Result<PlannedScenario> plan_again(const RankJob& job, const Scenario& scenario, const Planner& planner) {
  SHARDLAB_TRY(PlannedScenario planned, planner(scenario));
  const std::string hash = run_hash(planned.plan);
  if (hash != job.run_hash) {
    return run_failed("plan", fmt::format("this rank plans {}, the launcher planned {}", hash, job.run_hash),
                      "all machines must run the same version of shardlab");
  }
  return planned;
}

Status train(RankExecutor& executor, const World& world, const SpoolHeader& header, SpoolWriter& spool) {
  for (std::int64_t step = 0; step < header.steps; ++step) {
    SpoolStep record;
    record.step = step;
    SHARDLAB_CHECK_OK(world.align(fmt::format("step {}, the barrier before it", step)));
    record.aligned = monotonic_now();
    SHARDLAB_TRY(record.trace, executor.step());
    record.began = executor.last_step_began();
    if (record.trace.loss) {
      SHARDLAB_TRY(record.mean_loss,
                   world.mean(*record.trace.loss, fmt::format("step {}, the mean loss after it", step)));
    }
    SHARDLAB_CHECK_OK(spool.write(record));
  }
  return {};
}

// The job of training, once all have met.
class TrainingSession {
 public:
  TrainingSession(const RankPlace& place, const PlannedScenario& planned, SpoolWriter& spool)
      : place_(place),
        planned_(planned),
        extras_(place.job.extras),
        rank_(place.environment.rank),
        spool_(spool) {}

  Status run() {
    SHARDLAB_TRY(const World world, World::connect(place_.rendezvous, place_.environment));
    RankExecutorOptions options;
    options.rank = rank_;
    options.ledger = place_.ledger;
    options.memory_limit = planned_.scenario.cluster->memory_limit.value_or(Bytes{});
    options.backend = place_.device->backend();
    SHARDLAB_TRY(options.communicators,
                 place_.device->connect(place_.rendezvous, groups_of(planned_, rank_)));
    SHARDLAB_TRY(const auto executor, RankExecutor::create(planned_, std::move(options)));
    Status done = train_with(*executor, world);
    if (!done) {
      if (executor->out_of_memory()) SHARDLAB_CHECK_OK(spool_.write(*executor->out_of_memory()));
      place_.device->report(to_string(done.error()));
    }
    return done;
  }

 private:
  Status train_with(RankExecutor& executor, const World& world) {
    SHARDLAB_CHECK_OK(executor.setup());
    const MeasureSpec& measure = *planned_.scenario.measure;
    const SpoolHeader header = spool_header(place_, measure.warmup_steps + measure.steps);
    SHARDLAB_CHECK_OK(spool_.write(header));
    SHARDLAB_CHECK_OK(train(executor, world, header, spool_));
    if (!extras_.save_weights.empty())
      SHARDLAB_CHECK_OK(save_weights(executor, planned_.graph, rank_, extras_.save_weights));
    if (!extras_.save_load.empty())
      SHARDLAB_CHECK_OK(save_expert_load(executor, planned_.graph, world, extras_.save_load));
    const SpoolEnd end{executor.communication_workspace(), place_.device->memory(),
                       executor.operator_times()};
    if (rank_ == 0 && !extras_.memory_snapshot.empty())
      SHARDLAB_CHECK_OK(place_.device->save_history(extras_.memory_snapshot));
    SHARDLAB_CHECK_OK(spool_.write(end));
    return world.align("the end");  // whoever passes here knows that all spools are complete
  }

  const RankPlace& place_;
  const PlannedScenario& planned_;
  const TrainingExtras& extras_;
  const int rank_;
  SpoolWriter& spool_;
};

Status do_job(const RankJob& job, const std::filesystem::path& folder, const RankEnvironment& environment,
              const RankServices& services, SpoolWriter& spool) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of(job, environment));
  if (job.kind == JobKind::probe) {
    SHARDLAB_TRY(const RankPlace place, meet_ranks(job, scenario, environment, services.open_device));
    return probe_rank(place, folder, spool);
  }
  SHARDLAB_TRY(const PlannedScenario planned, plan_again(job, scenario, services.planner));
  SHARDLAB_TRY(const RankPlace place, meet_ranks(job, scenario, environment, services.open_device));
  return TrainingSession(place, planned, spool).run();
}

}  // namespace

Status run_rank(const RankJob& job, const std::filesystem::path& folder, const RankEnvironment& environment,
                const RankServices& services, SpoolWriter& spool) {
  try {
    const c10::InferenceMode no_autograd;
    at::set_num_threads(job.threads);
    at::set_num_interop_threads(1);
    install_counting_allocator();
    poison_freed_memory(job.extras.poison);
    return do_job(job, folder, environment, services, spool);
  } catch (const std::exception& error) {
    return run_failed(on_rank(environment.rank, "between steps"), first_line(error.what()));
  }
}

}  // namespace shardlab
