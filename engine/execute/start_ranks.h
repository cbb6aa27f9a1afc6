// Starts the processes of one job and waits for them. Private to this folder.
#pragma once

#include "engine/execute/launch.h"

namespace shardlab {

// The job of a scenario's ranks but for what its kind needs besides.
RankJob job_of(JobKind kind, const Scenario& scenario, const LaunchOptions& options);

// What a rank of the job finds in its environment: this process's, and what scenario and job put there.
EnvironmentVariables variables_of_rank(const Scenario& scenario, const RankJob& job,
                                       const RankEnvironment& rank);

// Where ranks that this process starts meet, as the first of them is told: launch.master, or a free port of
// this machine. bad_input for a port that is none.
Result<RankEnvironment> meeting_place(const Scenario& scenario);

// Writes the job into the run's folder and starts a process for every rank, all on this machine. Errors:
// launch_run().
Status start_all_ranks(const Scenario& scenario, const RankJob& job, const LaunchOptions& options);

// Likewise, for the one rank that this process is by its launcher's environment.
Status start_own_rank(const Scenario& scenario, const RankJob& job, const LaunchOptions& options,
                      const RankEnvironment& environment);

// Likewise, for a job that is written already: `file` in the run's folder. Whoever started the others, and
// whether they are as many as the scenario asks for, is the caller's to know (check_launcher).
Status start_given_job(const Scenario& scenario, const RankJob& job, const std::filesystem::path& file,
                       const LaunchOptions& options, const RankEnvironment& environment);

// bad_input when the scenario has other ranks, or names another launcher, than the environment.
Status check_launcher(const Scenario& scenario, const RankEnvironment& environment);

}  // namespace shardlab
