// The life of one rank process: meet the others, do the job, write the spool.
#pragma once

#include <functional>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_job.h"
#include "engine/execute/spool.h"
#include "engine/execute/torch/rank_place.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

using Planner = std::function<Result<PlannedScenario>(const Scenario&)>;

// Chosen by the program's main.
struct RankServices {
  Planner planner;                   // how a scenario is planned
  OpenDevice open_device = nullptr;  // how this rank's GPU is opened where the scenario asks for GPUs
  // Told what ends the job badly while all that the rank holds is still there. The program ends in it: to
  // take a communicator apart would be to wait for a peer that may be gone. May be empty, and may return.
  std::function<void(const Error&)> failed = {};
};

// Training: plans the scenario again, compares the plans with the launcher's and the settings with those of
// the other ranks, runs the warm-up and the measured steps. Probes: measures them and writes their results
// beside the job's file, into `folder`. The error that ends it is written into the spool, reported to the
// other ranks, given to services.failed, and returned.
Status run_rank(const RankJob& job, const std::filesystem::path& folder, const RankEnvironment& environment,
                const RankServices& services, SpoolWriter& spool);

}  // namespace shardlab
