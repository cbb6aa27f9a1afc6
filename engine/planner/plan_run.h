// The plans of a run, built step by step from a partitioned model: setup, first, (second,) steady.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/strategies/step_strategies.h"

namespace shardlab {

// The plan of the steady step as it stood after one pass of its construction (`plan --after-each-pass`).
struct PassSnapshot {
  std::string pass;
  StepPlan plan;
};

// Fills `planned.plan`, whose scenario, graph and partition are there, and checks it as check_run() does.
// `snapshots` may be null. Errors: internal, where the check finds a defect; bad_input, where there are too
// many micro-batches (check_micro_batches.h).
Status plan_run(PlannedScenario& planned, const RunStrategies& strategies,
                std::vector<PassSnapshot>* snapshots);

}  // namespace shardlab
