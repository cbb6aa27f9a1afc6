#include "engine/execute/launch.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "engine/execute/collective_timeout.h"
#include "engine/execute/explain_failure.h"
#include "engine/execute/progress_tail.h"
#include "engine/execute/spool.h"
#include "engine/execute/watch_ranks.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// How long the others get to report after the first failure. A rank that lives notices within the timeout of
// a collective; twice that leaves room for the computation before it.
std::chrono::milliseconds grace_of(const Scenario& scenario) {
  return std::clamp<std::chrono::milliseconds>(2 * collective_timeout(scenario), std::chrono::seconds(5),
                                               std::chrono::seconds(30));
}

struct Launch {
  const PlannedScenario& planned;
  const LaunchOptions& options;
  fs::path scenario_file;
  std::string run_hash;
};

Result<Launch> prepare(const PlannedScenario& planned, const LaunchOptions& options,
                       const std::string& file_name) {
  std::error_code error;
  fs::create_directories(options.run_directory, error);
  if (error)
    return run_failed(in_file(options.run_directory.string()),
                      fmt::format("cannot be made: {}", error.message()));
  Launch launch{planned, options, options.run_directory / file_name, run_hash(planned.plan)};
  std::ofstream stream(launch.scenario_file, std::ios::trunc);
  stream << write_scenario(planned.scenario);
  stream.close();
  if (!stream)
    return run_failed(in_file(launch.scenario_file.string()), "cannot be written", "is the disk full?");
  return launch;
}

ChildCommand command_for(const Launch& launch, const RankEnvironment& rank) {
  const LaunchOptions& options = launch.options;
  ChildCommand command;
  command.program = options.rank_program;
  command.log = rank_log_path(options.run_directory, rank.rank);
  command.arguments = {"--scenario",
                       launch.scenario_file.string(),
                       "--directory",
                       launch.planned.scenario.directory,
                       "--run-hash",
                       launch.run_hash,
                       "--spool",
                       spool_path(options.run_directory, rank.rank).string(),
                       "--threads",
                       std::to_string(options.threads > 0 ? options.threads
                                                          : launch.planned.scenario.cluster.threads_per_rank),
                       "--parent",
                       std::to_string(::getpid())};
  if (options.poison) command.arguments.emplace_back("--poison");
  if (!options.save_weights.empty()) {
    command.arguments.emplace_back("--save-weights");
    command.arguments.push_back(fs::absolute(options.save_weights).string());
  }
  if (!options.memory_snapshot.empty() && rank.rank == 0) {
    command.arguments.emplace_back("--memory-snapshot");
    command.arguments.push_back(fs::absolute(options.memory_snapshot).string());
  }
  if (!options.save_load.empty()) {
    command.arguments.emplace_back("--save-load");
    command.arguments.push_back(fs::absolute(options.save_load).string());
  }
  if (!options.probes.empty()) {
    command.arguments.emplace_back("--probes");
    command.arguments.push_back(fs::absolute(options.probes).string());
  }
  command.environment = current_environment();
  const std::string& allocator = launch.planned.scenario.cluster.allocator_conf;
  if (!allocator.empty()) command.environment.insert_or_assign("PYTORCH_ALLOC_CONF", allocator);
  const LaunchSpec& spec = launch.planned.scenario.launch;
  // Gloo is told by rendezvous.cpp.
  if (!spec.interface.empty() && launch.planned.scenario.cluster.device != DeviceKind::cpu)
    command.environment.insert_or_assign("NCCL_SOCKET_IFNAME", "=" + spec.interface);
  for (const auto& [name, value] : spec.environment) command.environment.insert_or_assign(name, value);
  for (const auto& [name, value] : options.environment) command.environment.insert_or_assign(name, value);
  command.environment.insert_or_assign("RANK", std::to_string(rank.rank));
  command.environment.insert_or_assign("WORLD_SIZE", std::to_string(rank.world));
  command.environment.insert_or_assign("LOCAL_RANK", std::to_string(rank.local_rank));
  command.environment.insert_or_assign("MASTER_ADDR", rank.master_address);
  command.environment.insert_or_assign("MASTER_PORT", std::to_string(rank.master_port));
  return command;
}

Result<RankEnvironment> local_master(const Scenario& scenario) {
  RankEnvironment environment;
  environment.world = world_size(scenario);
  const std::string& master = scenario.launch.master;
  const std::size_t colon = master.rfind(':');
  environment.master_address = master.empty() ? "127.0.0.1" : master.substr(0, colon);
  if (colon == std::string::npos) {
    SHARDLAB_TRY(environment.master_port, free_port());
    return environment;
  }
  const std::string port = master.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) {
    return bad_input("launch.master", fmt::format("'{}' is not host or host:port", master));
  }
  environment.master_port = std::stoi(port);
  return environment;
}

Status start_and_watch(const Launch& launch, const std::vector<RankEnvironment>& ranks) {
  std::error_code ignored;
  for (const RankEnvironment& rank : ranks)
    fs::remove(spool_path(launch.options.run_directory, rank.rank), ignored);
  const SignalWatch signals;
  const auto grace = grace_of(launch.planned.scenario);
  std::vector<WatchedRank> children;
  for (const RankEnvironment& rank : ranks) {
    auto child = ChildProcess::start(command_for(launch, rank), signals.original_mask());
    if (!child) {
      for (const WatchedRank& started : children) started.process.send(SIGKILL);
      watch_ranks(children, signals, grace, {});
      return fail(child.error());
    }
    children.push_back({rank.rank, *child});
  }
  ProgressTail tail(spool_path(launch.options.run_directory, ranks.front().rank));
  const auto tick = [&] {
    if (!launch.options.progress) return;
    if (const auto progress = tail.read()) launch.options.progress(*progress);
  };
  const WatchOutcome outcome = watch_ranks(children, signals, grace, tick);
  if (!outcome.good()) return fail(explain_failure(outcome, launch.options.run_directory));
  return {};
}

}  // namespace

Result<RunTrace> launch_run(const PlannedScenario& planned, const LaunchOptions& options) {
  const Launcher launcher = planned.scenario.launch.launcher;
  if (launcher != Launcher::local)
    return not_possible("launch.launcher", fmt::format("{} did not start this process", to_string(launcher)),
                        "start shardlab with it, or remove launch.launcher to start all ranks from here");
  SHARDLAB_TRY(const Launch launch, prepare(planned, options, "scenario.yaml"));
  SHARDLAB_TRY(RankEnvironment environment, local_master(planned.scenario));
  std::vector<RankEnvironment> ranks;
  for (int rank = 0; rank < environment.world; ++rank) {
    environment.rank = environment.local_rank = rank;
    ranks.push_back(environment);
  }
  SHARDLAB_CHECK_OK(start_and_watch(launch, ranks));
  return gather_spools(planned, options.run_directory);
}

Result<std::optional<RunTrace>> run_as_rank(const PlannedScenario& planned, const LaunchOptions& options,
                                            const RankEnvironment& environment) {
  const int world = world_size(planned.scenario);
  if (environment.world != world) {
    return bad_input(std::string(to_string(environment.launcher)),
                     fmt::format("started {} ranks, the scenario has {}", environment.world, world),
                     "set cluster.ranks (or nodes and gpus_per_node) to what the launcher starts");
  }
  const Launcher launcher = planned.scenario.launch.launcher;
  if (launcher != Launcher::local && launcher != environment.launcher) {
    return bad_input("launch.launcher",
                     fmt::format("is {}, but {} started this process", to_string(launcher),
                                 to_string(environment.launcher)),
                     fmt::format("remove it, or start shardlab with {}", to_string(launcher)));
  }
  SHARDLAB_TRY(const Launch launch,
               prepare(planned, options, fmt::format("scenario-{}.yaml", environment.rank)));
  SHARDLAB_CHECK_OK(start_and_watch(launch, {environment}));
  if (environment.rank != 0) return std::nullopt;
  SHARDLAB_TRY(RunTrace run, gather_spools(planned, options.run_directory));
  return run;
}

}  // namespace shardlab
