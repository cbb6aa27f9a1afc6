// A scenario predicted with one key changed.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct PredictedWith {
  PlannedScenario planned;
  RunSummary run;
};

// `setting` as for --set. Errors: what the rest of the scenario does not allow, as reading it with --set
// would say.
Result<PredictedWith> predict_with(const PlannedScenario& planned, const std::string& setting,
                                   const Calibration* calibration);

}  // namespace shardlab
