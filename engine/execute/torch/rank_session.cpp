#include "engine/execute/torch/rank_session.h"

#include <fstream>
#include <sstream>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "engine/execute/collective_timeout.h"
#include "engine/execute/machine.h"
#include "engine/execute/torch/first_line.h"
#include "engine/execute/torch/host/host_runtime.h"
#include "engine/execute/torch/probes/run_probes.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/execute/torch/save_expert_load.h"
#include "engine/execute/torch/save_weights.h"
#include "engine/execute/torch/world.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

Result<PlannedScenario> plan_again(const RankOptions& options, const Planner& planner) {
  std::ifstream stream(options.scenario);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return bad_input(in_file(options.scenario.string()), "cannot be read");
  const std::string name = options.directory.empty() ? "scenario.yaml" : options.directory + "/scenario.yaml";
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(text.str(), name));
  SHARDLAB_TRY(PlannedScenario planned, planner(scenario));
  const std::string hash = run_hash(planned.plan);
  if (hash != options.run_hash) {
    return run_failed("plan",
                      fmt::format("this rank plans {}, the launcher planned {}", hash, options.run_hash),
                      "all machines must run the same version of shardlab");
  }
  return planned;
}

SpoolHeader header_of(const PlannedScenario& planned, const RankEnvironment& environment,
                      const std::string& hash) {
  SpoolHeader header;
  header.rank = environment.rank;
  header.world = environment.world;
  header.run_hash = hash;
  header.host = host_identity();
  header.versions = software_versions();
  header.versions["torch"] = TORCH_VERSION;
  header.steps = planned.scenario.measure.warmup_steps + planned.scenario.measure.steps;
  return header;
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

// Micro-benchmarks of a calibration, before anything else takes memory or time.
Status measure_probes(const RankOptions& options, int rank, const ProbePlace& place) {
  if (options.probes.empty()) return {};
  SHARDLAB_TRY(const ProbeList list, read_probe_list(options.probes));
  std::ofstream results(probe_results_path(options.spool.parent_path(), rank), std::ios::trunc);
  return run_probes(place, list, [&](const ProbeMeasurement& measurement) -> Status {
    results << probe_line(measurement) << std::endl;
    if (!results) return run_failed("probes", "the results cannot be written", "is the disk full?");
    return {};
  });
}

// The rank's GPU when the scenario asks for GPUs, else its host.
Result<std::unique_ptr<DeviceRuntime>> open_runtime(const PlannedScenario& planned,
                                                    const RankOptions& options,
                                                    const RankEnvironment& environment,
                                                    OpenDevice open_device, const MemoryLedger& ledger) {
  const ClusterSpec& cluster = planned.scenario.cluster;
  DeviceRequest request;
  request.environment = environment;
  request.ledger = ledger;
  request.timeout = collective_timeout(planned.scenario);
  request.memory_limit = cluster.memory_limit.value_or(Bytes{});
  request.history = !options.memory_snapshot.empty();
  return cluster.device == DeviceKind::cpu ? make_host_runtime(request) : open_device(request);
}

// One rank, once all have met.
class Session {
 public:
  Session(const RankOptions& options, const RankEnvironment& environment, const PlannedScenario& planned,
          std::unique_ptr<DeviceRuntime> device, SpoolWriter& spool)
      : options_(options),
        environment_(environment),
        planned_(planned),
        device_(std::move(device)),
        spool_(spool) {}

  Status run(const Rendezvous& rendezvous, const MemoryLedger& ledger) {
    SHARDLAB_TRY(const World world, World::connect(rendezvous, environment_));
    RankExecutorOptions executor_options;
    executor_options.rank = environment_.rank;
    executor_options.ledger = ledger;
    executor_options.memory_limit = planned_.scenario.cluster.memory_limit.value_or(Bytes{});
    executor_options.backend = device_->backend();
    SHARDLAB_TRY(executor_options.communicators, device_->connect(rendezvous, planned_));
    SHARDLAB_CHECK_OK(measure_probes(options_, environment_.rank, probe_place(world, executor_options)));
    SHARDLAB_TRY(const auto executor, RankExecutor::create(planned_, std::move(executor_options)));
    Status done = train_with(*executor, world);
    if (!done) {
      if (executor->out_of_memory()) SHARDLAB_CHECK_OK(spool_.write(*executor->out_of_memory()));
      device_->report(to_string(done.error()));
    }
    return done;
  }

 private:
  // Collectives are measured among all ranks: on a device over the group that has them all.
  ProbePlace probe_place(const World& world, const RankExecutorOptions& executor) const {
    ProbePlace place{world.communicator(), world.communicator()};
    if (executor.backend->arithmetic() == Arithmetic::host) return place;
    place.backend = executor.backend.get();
    place.data = nullptr;
    for (const auto& [name, communicator] : executor.communicators) {
      if (communicator->size() == environment_.world) place.data = communicator.get();
    }
    return place;
  }

  Status train_with(RankExecutor& executor, const World& world) {
    SHARDLAB_CHECK_OK(executor.setup());
    SpoolHeader header = header_of(planned_, environment_, options_.run_hash);
    header.machine = device_->name();
    for (const auto& [name, version] : device_->versions()) header.versions[name] = version;
    SHARDLAB_CHECK_OK(spool_.write(header));
    SHARDLAB_CHECK_OK(train(executor, world, header, spool_));
    if (!options_.save_weights.empty())
      SHARDLAB_CHECK_OK(save_weights(executor, planned_.graph, environment_.rank, options_.save_weights));
    if (!options_.save_load.empty())
      SHARDLAB_CHECK_OK(save_expert_load(executor, planned_.graph, world, options_.save_load));
    const SpoolEnd end{executor.communication_workspace(), device_->memory(), executor.operator_times()};
    if (!options_.memory_snapshot.empty()) SHARDLAB_CHECK_OK(device_->save_history(options_.memory_snapshot));
    SHARDLAB_CHECK_OK(spool_.write(end));
    return world.align("the end");  // whoever passes here knows that all spools are complete
  }

  const RankOptions& options_;
  const RankEnvironment& environment_;
  const PlannedScenario& planned_;
  const std::unique_ptr<DeviceRuntime> device_;
  SpoolWriter& spool_;
};

Status run_planned(const RankOptions& options, const RankEnvironment& environment,
                   const PlannedScenario& planned, OpenDevice open_device, SpoolWriter& spool) {
  const MemoryLedger ledger;
  // Before the others are met: who has no device says so at once and nobody waits for it.
  SHARDLAB_TRY(auto device, open_runtime(planned, options, environment, open_device, ledger));
  RendezvousOptions meeting;
  meeting.arrival_timeout = arrival_timeout(planned.scenario);
  meeting.operation_timeout = collective_timeout(planned.scenario);
  meeting.interface = planned.scenario.launch.interface;
  Rendezvous rendezvous = Rendezvous::in_process(meeting);
  if (environment.world > 1) {
    SHARDLAB_TRY(Rendezvous connected, Rendezvous::connect(environment, meeting));
    rendezvous = std::move(connected);
  }
  return Session(options, environment, planned, std::move(device), spool).run(rendezvous, ledger);
}

}  // namespace

Status run_rank(const RankOptions& options, const RankEnvironment& environment, const Planner& planner,
                OpenDevice open_device, SpoolWriter& spool) {
  SHARDLAB_TRY(const PlannedScenario planned, plan_again(options, planner));
  if (environment.world != world_size(planned.scenario)) {
    return bad_input("WORLD_SIZE", fmt::format("is {}, the scenario has {} ranks", environment.world,
                                               world_size(planned.scenario)));
  }
  try {
    const c10::InferenceMode no_autograd;
    at::set_num_threads(options.threads);
    at::set_num_interop_threads(1);
    install_counting_allocator();
    poison_freed_memory(options.poison);
    return run_planned(options, environment, planned, open_device, spool);
  } catch (const std::exception& error) {
    return run_failed(on_rank(environment.rank, "between steps"), first_line(error.what()));
  }
}

}  // namespace shardlab
