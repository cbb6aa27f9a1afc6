// The life of one rank process: plan again, meet the others, train, write the spool.
#pragma once

#include <functional>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_options.h"
#include "engine/execute/spool.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

using Planner = std::function<Result<PlannedScenario>(const Scenario&)>;

// Plans the scenario again, compares the plans with the launcher's, runs the warm-up and the measured steps.
// The error that ends it is returned, not written.
Status run_rank(const RankOptions& options, const RankEnvironment& environment, const Planner& planner,
                SpoolWriter& spool);

}  // namespace shardlab
