// Measures this machine and stores what was fitted to it.
#pragma once

#include "engine/cli/console.h"
#include "engine/plan/planned_scenario.h"
#include "engine/store/run_store.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct CalibrationRequest {
  int ranks = 2;                              // processes that measure at the same time
  int threads = 1;                            // of each
  const PlannedScenario* scenario = nullptr;  // its operators are measured too; may be null
};

// Under a minute. not_possible without libtorch.
Result<Calibration> run_calibration(const CalibrationRequest& request, RunStore& store, Console& console);

}  // namespace shardlab
