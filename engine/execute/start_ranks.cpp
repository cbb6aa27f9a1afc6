#include "engine/execute/start_ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "engine/base/version.h"
#include "engine/execute/collective_timeout.h"
#include "engine/execute/explain_failure.h"
#include "engine/execute/meeting/meeting_file.h"
#include "engine/execute/meeting/run_secret.h"
#include "engine/execute/progress_tail.h"
#include "engine/execute/spool.h"
#include "engine/execute/swap_place.h"
#include "engine/execute/watch_ranks.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// How long the others get to report after the first failure. A rank that lives notices within the timeout of
// a collective; twice that leaves room for the computation before it. Whoever waits at the meeting for a rank
// that is gone notices nothing: all has ended within half a minute.
std::chrono::milliseconds grace_of(const Scenario& scenario) {
  return std::clamp<std::chrono::milliseconds>(2 * collective_timeout(scenario), std::chrono::seconds(5),
                                               std::chrono::seconds(25));
}

// A file that a rank finds wherever it runs.
fs::path absolute_or_none(const fs::path& file) {
  return file.empty() ? file : fs::absolute(file);
}

// It started nobody else, and so whoever else is needed is started from here.
bool is_only_process_of(Launcher launcher) {
  const auto environment = rank_environment(current_environment());
  return environment && *environment && (*environment)->launcher == launcher && (*environment)->world == 1;
}

Status start_and_watch(const Scenario& scenario, const LaunchOptions& options, const RankJob& job,
                       const fs::path& job_file, const std::vector<RankEnvironment>& ranks) {
  SHARDLAB_CHECK_OK(secret_of_user(current_environment()));  // before every rank finds it wrong
  std::error_code ignored;
  for (const RankEnvironment& rank : ranks) fs::remove(spool_path(options.run_directory, rank.rank), ignored);
  const bool keeps_meeting = ranks.front().rank == 0;
  if (keeps_meeting) remove_meeting_word(options.run_directory);
  const SignalWatch signals;
  const auto grace = grace_of(scenario);
  std::vector<WatchedRank> children;
  for (const RankEnvironment& rank : ranks) {
    const ChildCommand command{options.rank_program,
                               {"--job", job_file.string(), "--parent", std::to_string(::getpid())},
                               variables_of_rank(scenario, job, rank),
                               rank_log_path(options.run_directory, rank.rank)};
    auto child = ChildProcess::start(command, signals.original_mask());
    if (!child) {
      for (const WatchedRank& started : children) started.process.send(SIGKILL);
      watch_ranks(children, signals, grace, {});
      return fail(child.error());
    }
    children.push_back({rank.rank, *child});
  }
  ProgressTail tail(spool_path(options.run_directory, ranks.front().rank));
  const auto tick = [&] {
    if (!options.progress) return;
    if (const auto progress = tail.read()) options.progress(*progress);
  };
  const WatchOutcome outcome = watch_ranks(children, signals, grace, tick);
  clear_swap(scenario, job.swap_run);  // what ranks that were killed have left
  if (keeps_meeting) remove_meeting_word(options.run_directory);
  if (!outcome.good()) return fail(explain_failure(outcome, options.run_directory, job.kind));
  return {};
}

}  // namespace

EnvironmentVariables variables_of_rank(const Scenario& scenario, const RankJob& job,
                                       const RankEnvironment& rank) {
  EnvironmentVariables variables = current_environment();
  // Gloo is told by rendezvous.cpp. What the shell says stands: it may know this node better.
  const std::string& interface = scenario.launch->interface;
  if (!interface.empty() && scenario.cluster->device != DeviceKind::cpu)
    variables.try_emplace("NCCL_SOCKET_IFNAME", "=" + interface);
  for (const auto& [name, value] : job.environment) variables.insert_or_assign(name, value);
  variables.insert_or_assign("RANK", std::to_string(rank.rank));
  variables.insert_or_assign("WORLD_SIZE", std::to_string(rank.world));
  variables.insert_or_assign("LOCAL_RANK", std::to_string(rank.local_rank));
  variables.insert_or_assign("MASTER_ADDR", rank.master_address);
  variables.insert_or_assign("MASTER_PORT", std::to_string(rank.master_port));
  return variables;
}

Result<RankEnvironment> meeting_place(const Scenario& scenario) {
  RankEnvironment environment;
  environment.world = world_size(scenario);
  const std::string& master = scenario.launch->master;
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

RankJob job_of(JobKind kind, const Scenario& scenario, const LaunchOptions& options) {
  RankJob job;
  job.kind = kind;
  job.version = program_version();
  job.scenario = write_scenario(scenario);
  job.directory = scenario.directory;
  job.threads = scenario.cluster->threads_per_rank;
  const std::string& allocator = scenario.cluster->allocator_conf;
  if (!allocator.empty()) job.environment.insert_or_assign("PYTORCH_ALLOC_CONF", allocator);
  for (const auto& [name, value] : scenario.launch->environment)
    job.environment.insert_or_assign(name, value);
  if (scenario.offload->optimizer == OffloadTarget::nvme) job.swap_run = new_swap_run();
  job.extras = options.extras;
  for (fs::path* file : {&job.extras.save_weights, &job.extras.save_load, &job.extras.memory_snapshot})
    *file = absolute_or_none(*file);
  return job;
}

Status check_starts_here(const Scenario& scenario) {
  const Launcher launcher = scenario.launch->launcher;
  if (launcher == Launcher::local || is_only_process_of(launcher)) return {};
  return not_possible("launch.launcher", fmt::format("{} did not start this process", to_string(launcher)),
                      "start shardlab with it, or remove launch.launcher to start all ranks from here");
}

Status start_all_ranks(const Scenario& scenario, const RankJob& job, const LaunchOptions& options) {
  SHARDLAB_CHECK_OK(check_starts_here(scenario));
  SHARDLAB_TRY(RankEnvironment environment, meeting_place(scenario));
  std::vector<RankEnvironment> ranks;
  for (int rank = 0; rank < environment.world; ++rank) {
    environment.rank = environment.local_rank = rank;
    ranks.push_back(environment);
  }
  const fs::path file = rank_job_path(options.run_directory);
  SHARDLAB_CHECK_OK(write_rank_job(file, job));
  return start_and_watch(scenario, options, job, file, ranks);
}

Status check_launcher(const Scenario& scenario, const RankEnvironment& environment) {
  const int world = world_size(scenario);
  if (environment.world != world) {
    return bad_input(std::string(to_string(environment.launcher)),
                     fmt::format("started {} ranks, the scenario has {}", environment.world, world),
                     "set cluster.ranks (or nodes and gpus_per_node) to what the launcher starts");
  }
  const Launcher launcher = scenario.launch->launcher;
  if (launcher == Launcher::local || launcher == environment.launcher) return {};
  return bad_input(
      "launch.launcher",
      fmt::format("is {}, but {} started this process", to_string(launcher), to_string(environment.launcher)),
      fmt::format("remove it, or start shardlab with {}", to_string(launcher)));
}

Status start_own_rank(const Scenario& scenario, const RankJob& job, const LaunchOptions& options,
                      const RankEnvironment& environment) {
  SHARDLAB_CHECK_OK(check_launcher(scenario, environment));
  const fs::path file = rank_job_path(options.run_directory, environment.rank);
  SHARDLAB_CHECK_OK(write_rank_job(file, job));
  return start_given_job(scenario, job, file, options, environment);
}

Status start_given_job(const Scenario& scenario, const RankJob& job, const fs::path& file,
                       const LaunchOptions& options, const RankEnvironment& environment) {
  return start_and_watch(scenario, options, job, file, {environment});
}

}  // namespace shardlab
