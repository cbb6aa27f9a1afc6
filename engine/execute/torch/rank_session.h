// The life of one rank process: plan again, meet the others, train, write the spool.
#pragma once

#include <functional>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_options.h"
#include "engine/execute/spool.h"
#include "engine/execute/torch/device_runtime.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

using Planner = std::function<Result<PlannedScenario>(const Scenario&)>;

// Plans the scenario again, compares the plans with the launcher's, runs the warm-up and the measured steps.
// The error that ends it is returned, not written.
//
// `open_device` opens this rank's GPU where the scenario asks for GPUs; the program's main chooses it.
using OpenDevice = Result<std::unique_ptr<DeviceRuntime>> (*)(const DeviceRequest&);
Status run_rank(const RankOptions& options, const RankEnvironment& environment, const Planner& planner,
                OpenDevice open_device, SpoolWriter& spool);

}  // namespace shardlab
