#include "engine/execute/torch/rank_session.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "engine/execute/collective_timeout.h"
#include "engine/execute/meeting/agree_on_settings.h"
#include "engine/execute/run_steps.h"
#include "engine/execute/torch/probes/probe_rank.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/execute/torch/rank_place.h"
#include "engine/execute/torch/save_results.h"
#include "engine/execute/torch/step_failure.h"
#include "engine/execute/torch/world.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

Result<Scenario> scenario_of_world(const RankJob& job, const RankEnvironment& environment) {
  SHARDLAB_TRY(Scenario scenario, scenario_of(job));
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

Status train(RankExecutor& executor, const World& world, DeviceRuntime& device, const SpoolHeader& header,
             SpoolWriter& spool) {
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
    device.end_step();
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
    SHARDLAB_CHECK_OK(agree());
    SHARDLAB_TRY(world_, World::connect(place_.rendezvous, place_.environment));
    RankExecutorOptions options;
    options.rank = rank_;
    options.ledger = place_.ledger;
    options.memory_limit = planned_.scenario.cluster->memory_limit.value_or(Bytes{});
    options.backend = place_.device->backend();
    options.run = place_.job.swap_run;
    options.poison = extras_.poison;
    if (extras_.jitter != 0) options.jitter.emplace(static_cast<std::uint64_t>(extras_.jitter));
    SHARDLAB_TRY(options.communicators,
                 place_.device->connect(place_.rendezvous, groups_of(planned_, rank_)));
    SHARDLAB_TRY(executor_, RankExecutor::create(planned_, std::move(options)));
    const Status done = train_with(*executor_);
    if (!done && executor_->out_of_memory()) SHARDLAB_CHECK_OK(spool_.write(*executor_->out_of_memory()));
    return done;
  }

 private:
  // Each rank may have been started by hand, with a scenario of its own.
  Status agree() const {
    KeyValueStore values = place_.rendezvous.store();
    return agree_on_settings(values, rank_, place_.environment.world, place_.job.scenario,
                             collective_timeout(planned_.scenario));
  }

  Status train_with(RankExecutor& executor) {
    SHARDLAB_CHECK_OK(executor.setup());
    const SpoolHeader header = spool_header(place_, steps_of_run(planned_.scenario));
    SHARDLAB_CHECK_OK(spool_.write(header));
    SHARDLAB_CHECK_OK(train(executor, world_, *place_.device, header, spool_));
    if (!extras_.save_weights.empty())
      SHARDLAB_CHECK_OK(save_weights(executor, planned_.graph, rank_, extras_.save_weights));
    if (!extras_.save_load.empty())
      SHARDLAB_CHECK_OK(save_expert_load(executor, planned_.graph, world_, extras_.save_load));
    const SpoolEnd end{executor.communication_workspace(), place_.device->memory(),
                       executor.operator_times()};
    if (rank_ == 0 && !extras_.memory_snapshot.empty())
      SHARDLAB_CHECK_OK(place_.device->save_history(extras_.memory_snapshot));
    SHARDLAB_CHECK_OK(spool_.write(end));
    return world_.align("the end");  // whoever passes here knows that all spools are complete
  }

  const RankPlace& place_;
  const PlannedScenario& planned_;
  const TrainingExtras& extras_;
  const int rank_;
  SpoolWriter& spool_;
  // There as long as the session: what ends badly is told before anything is taken apart.
  World world_;
  std::unique_ptr<RankExecutor> executor_;
};

// Tells once what ends a job badly.
class BadEnd {
 public:
  BadEnd(const RankServices& services, SpoolWriter& spool) : services_(services), spool_(spool) {}

  // First where nothing can go wrong any more: the peers may be gone, and the device too.
  void tell(const Error& error, DeviceRuntime* device = nullptr) {
    if (std::exchange(told_, true)) return;
    (void)spool_.write(error);
    if (device != nullptr) device->report(to_string(error));
    if (services_.failed) services_.failed(error);
  }

 private:
  const RankServices& services_;
  SpoolWriter& spool_;
  bool told_ = false;
};

template <typename Work>
Status without_exceptions(int rank, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return run_failed(on_rank(rank, "between steps"), first_line(error.what()));
  }
}

// The work of a rank that has its place, to its end, good or bad.
template <typename Work>
Status work_at(const RankPlace& place, BadEnd& bad_end, Work&& work) {
  const Status done = without_exceptions(place.environment.rank, work);
  if (done) {
    place.device->finish();
  } else {
    bad_end.tell(done.error(), place.device.get());
  }
  return done;
}

Status do_job(const RankJob& job, const std::filesystem::path& folder, const RankEnvironment& environment,
              const RankServices& services, SpoolWriter& spool, BadEnd& bad_end) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of_world(job, environment));
  if (job.kind == JobKind::probe) {
    SHARDLAB_TRY(const RankPlace place, meet_ranks(job, folder, scenario, environment, services.open_device));
    return work_at(place, bad_end, [&] { return probe_rank(place, folder, spool); });
  }
  SHARDLAB_TRY(const PlannedScenario planned, plan_again(job, scenario, services.planner));
  SHARDLAB_TRY(const RankPlace place, meet_ranks(job, folder, scenario, environment, services.open_device));
  TrainingSession session(place, planned, spool);
  return work_at(place, bad_end, [&] { return session.run(); });
}

}  // namespace

Status run_rank(const RankJob& job, const std::filesystem::path& folder, const RankEnvironment& environment,
                const RankServices& services, SpoolWriter& spool) {
  BadEnd bad_end(services, spool);
  const Status done = without_exceptions(environment.rank, [&] {
    const c10::InferenceMode no_autograd;
    at::set_num_threads(job.threads);
    at::set_num_interop_threads(1);
    install_counting_allocator();
    poison_freed_memory(job.extras.poison);
    return do_job(job, folder, environment, services, spool, bad_end);
  });
  if (!done) bad_end.tell(done.error());
  return done;
}

}  // namespace shardlab
