// Starts the processes of one job and waits for them. Private to this folder.
#pragma once

#include "engine/execute/launch.h"

namespace shardlab {

// The job of a scenario's ranks but for what its kind needs besides.
RankJob job_of(JobKind kind, const Scenario& scenario, const LaunchOptions& options);

// Writes the job into the run's folder and starts a process for every rank, all on this machine. Errors:
// launch_run().
Status start_all_ranks(const Scenario& scenario, const RankJob& job, const LaunchOptions& options);

// Likewise, for the one rank that this process is by its launcher's environment.
Status start_own_rank(const Scenario& scenario, const RankJob& job, const LaunchOptions& options,
                      const RankEnvironment& environment);

}  // namespace shardlab
