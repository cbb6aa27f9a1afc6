// Measures this machine and stores what was fitted to it.
#pragma once

#include "engine/cli/console.h"
#include "engine/plan/planned_scenario.h"
#include "engine/store/run_store.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct CalibrationRequest {
  std::string cluster;                        // one node, as in a scenario (CalibrateOptions)
  const PlannedScenario* scenario = nullptr;  // its operators are measured too; may be null
};

// See calibrate(). What was fitted is stored.
Result<Calibration> run_calibration(const CalibrationRequest& request, RunStore& store, Console& console);

}  // namespace shardlab
