// Measures this machine and stores what was fitted to it.
#pragma once

#include "engine/cli/console.h"
#include "engine/execute/rank_team.h"
#include "engine/plan/planned_scenario.h"
#include "engine/store/run_store.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct CalibrationRequest {
  std::string cluster;                        // as in a scenario (CalibrateOptions)
  const PlannedScenario* scenario = nullptr;  // its operators are measured too; may be null
  RankTeam* team = nullptr;                   // the processes that become the ranks; null: started from here
};

// What was fitted is stored. Errors: those of calibrate(), and of the store.
Result<Calibration> run_calibration(const CalibrationRequest& request, RunStore& store, Console& console);

}  // namespace shardlab
