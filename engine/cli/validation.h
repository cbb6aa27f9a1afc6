// A scenario predicted and run, and the two compared.
#pragma once

#include <string>

#include "engine/cli/stored_runs.h"

namespace shardlab {

struct Validation {
  std::string scenario;
  FinishedRun predicted;
  FinishedRun measured;
  Comparison comparison;
  StepPlan steady;  // of both
};

// Calibrates first when the store has no calibration of this machine for the scenario, unless `calibrate` is
// off. Stores both runs and the comparison.
Result<Validation> validate(const PlannedScenario& planned, bool calibrate, RunStore& store,
                            Console& console);

// The document of docs/json.md, `validate`.
Json validation_json(const Validation& validation);

}  // namespace shardlab
