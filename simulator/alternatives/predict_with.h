// A scenario predicted with keys changed.
#pragma once

#include <span>
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

// `settings` as for --set. The run has no hash of its plan. Errors: what the rest of the scenario does not
// allow, as reading it with --set would say.
Result<PredictedWith> predict_with(const PlannedScenario& planned, std::span<const std::string> settings,
                                   const Calibration* calibration);
Result<PredictedWith> predict_with(const PlannedScenario& planned, const std::string& setting,
                                   const Calibration* calibration);

}  // namespace shardlab
