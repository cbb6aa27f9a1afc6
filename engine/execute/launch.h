// Real runs: starts and watches one shardlab-rank process per rank, or becomes one rank of a run that another
// launcher started.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_job.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/out_of_memory.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

class RankTeam;

struct RunProgress {
  std::int64_t steps_done = 0;
  std::int64_t steps = 0;
  std::optional<double> loss;           // of the last step, mean over ranks
  std::optional<Nanoseconds> duration;  // of the last step on the first rank
  std::optional<Bytes> peak;            // in the last step on the first rank, when memory was measured
};

struct LaunchOptions {
  std::filesystem::path rank_program;  // shardlab-rank
  std::filesystem::path
      run_directory;  // made when it does not exist; job, spools and logs of the ranks stay there
  std::function<void(const RunProgress&)>
      progress;              // called now and then by the launching thread; may be empty
  TrainingExtras extras;     // paths may be relative to this process's folder
  RankTeam* team = nullptr;  // the processes that become the ranks (rank_team.h); null: started from here
};

// Whether this process, which is no rank of a launcher's, may start the scenario's ranks: not_possible where
// the scenario names a launcher that did not start it.
Status check_starts_here(const Scenario& scenario);

// Runs all ranks on this machine, or as the team's processes, and returns what they measured. When a rank
// fails, the others get 25 seconds (less when launch.timeout is short) to notice and to report where they
// waited; then they are stopped. The error says which rank failed how, and what the others waited for; the
// spools stay. SIGINT and SIGTERM to this process end the ranks and the run (run_failed). Not to be called by
// two threads at once.
Result<RunTrace> launch_run(const PlannedScenario& planned, const LaunchOptions& options);

// This process is one rank of a run started by torchrun, Slurm or mpirun: runs shardlab-rank for it and
// waits. Rank 0 then collects the other ranks' spools, which must lie in the same run_directory (a shared
// file system); when they do not, run_failed says whose are missing. The other ranks return nothing.
Result<std::optional<RunTrace>> run_as_rank(const PlannedScenario& planned, const LaunchOptions& options,
                                            const RankEnvironment& environment);

// What the ranks of a job of probes measured.
struct ProbeRun {
  std::string machine;  // processor or GPU model of the first rank
  std::map<std::string, std::string> versions;
  std::vector<ProbeMeasurement> measurements;  // of one rank after the other
};

// The ranks of the scenario's cluster meet and measure `probes`: nothing is planned and nothing trained. As
// launch_run() and run_as_rank() otherwise.
Result<ProbeRun> launch_probes(const Scenario& scenario, const ProbeList& probes,
                               const LaunchOptions& options);
Result<std::optional<ProbeRun>> probe_as_rank(const Scenario& scenario, const ProbeList& probes,
                                              const LaunchOptions& options,
                                              const RankEnvironment& environment);

// When memory ended a run, the figures of the first rank that says so.
std::optional<OutOfMemory> find_out_of_memory(const PlannedScenario& planned,
                                              const std::filesystem::path& run_directory);
// Where the numbers of a run that was not finished come from, as far as its spools tell.
Provenance provenance_of_unfinished(const PlannedScenario& planned,
                                    const std::filesystem::path& run_directory);

// The measurements of finished probes.
Result<ProbeRun> gather_probes(const Scenario& scenario, const std::filesystem::path& run_directory);

// The traces of a finished run from its spools.
Result<RunTrace> gather_spools(const PlannedScenario& planned, const std::filesystem::path& run_directory);

}  // namespace shardlab
