// What a prediction would be with one key of its scenario changed: on GPUs the other implementation,
// and every single setting that halves the memory at the peak.
#pragma once

#include <functional>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/alternative.h"
#include "engine/trace/run_summary.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// `run` is the prediction of `planned`. Each alternative is planned and simulated as it is, with the same
// calibration; one that the rest of the scenario does not allow is left out. Pure apart from reading the
// files that the scenario names; takes about as long as the prediction, once for each setting that is tried.
// `is_wanted`, where there is one, is asked before each of them; when it says no, what was found so far is
// returned. Errors: what the machine could not do (is_of_the_machine).
Result<std::vector<Alternative>> predict_alternatives(const PlannedScenario& planned, const RunSummary& run,
                                                      const Calibration* calibration,
                                                      const std::function<bool()>& is_wanted = {});

}  // namespace shardlab
