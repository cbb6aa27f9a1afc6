// From a scenario to the plans of its run: model graph, units, segments, strategy, generic passes, check.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/planner/plan_run.h"

namespace shardlab {

// Reads the model's configuration, builds and checks all plans of the run. `snapshots` may be null. bad_input
// names the key of the scenario; run_failed-like faults of the plan itself are what check_run() reports.
Result<PlannedScenario> plan_scenario(const Scenario& scenario,
                                      std::vector<PassSnapshot>* snapshots = nullptr);

}  // namespace shardlab
