// Which settings of a scenario would make its steps faster, and at what cost.
#pragma once

#include <functional>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/report/explain_time/time_saving.h"
#include "engine/trace/run_summary.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// `run` is the prediction of `planned`. Every setting of settings_that_could_hasten() is planned and
// simulated as it is; what the rest of the scenario does not allow and what does not process more tokens a
// second is left out. The largest gain first, a comparison last. `is_wanted` and errors as in
// predict_alternatives().
Result<std::vector<TimeSaving>> predict_time_savings(const PlannedScenario& planned, const RunSummary& run,
                                                     const Calibration* calibration,
                                                     const std::function<bool()>& is_wanted = {});

}  // namespace shardlab
