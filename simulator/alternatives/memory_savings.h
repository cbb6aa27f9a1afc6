// Which single keys of a scenario would lower its memory, and at what cost.
#pragma once

#include <functional>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/report/explain_memory/memory_saving.h"
#include "engine/trace/run_summary.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// `run` is the prediction of `planned`. Every setting is planned and simulated as it is; what the rest of the
// scenario does not allow and what does not lower the device's peak (on processors that of the tensors) is
// left out. The largest gain first, a comparison last. `is_wanted` and errors as in predict_alternatives().
Result<std::vector<MemorySaving>> predict_savings(const PlannedScenario& planned, const RunSummary& run,
                                                  const Calibration* calibration,
                                                  const std::function<bool()>& is_wanted = {});

}  // namespace shardlab
