// Everything that is predicted of one scenario.
#pragma once

#include <optional>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"
#include "simulator/calibrate/calibration.h"
#include "simulator/search/outcome.h"

namespace shardlab {

struct FullPrediction {
  PlannedScenario planned;
  RunSummary run;
  std::optional<Calibration> calibration;
  RunTrace trace;
  PredictedFigures figures;
};

// As `shardlab simulate` predicts it, without the hashes of plans. Errors: what is wrong with the scenario.
// Pure; calls may run in parallel.
Result<FullPrediction> predict_fully(const Scenario& scenario, std::optional<Calibration> calibration);

}  // namespace shardlab
