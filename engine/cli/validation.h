// A scenario predicted and run, and the two compared.
#pragma once

#include <string>

#include "engine/cli/stored_runs.h"
#include "engine/execute/rank_team.h"
#include "simulator/calibrate/calibration_check.h"

namespace shardlab {

struct Validation {
  std::string scenario;
  FinishedRun predicted;
  FinishedRun measured;
  Comparison comparison;
  StepPlan steady;       // of both
  MachineState machine;  // around and during a run on processors; nothing of one on GPUs
};

// Calibrates first when the store has no calibration of this machine for the scenario, unless `calibrate` is
// off. On processors the calibration's probes are measured again before the run and after it: where they say
// before that it does not hold, the machine is calibrated once more; where the machine changed during the
// run, its times are not judged. Stores both runs and the comparison. The ranks are the team's processes, or,
// without one, started from here.
//
// Errors: not_possible where the scenario cannot run on this machine (check_measurable()); those of
// run_calibration(), predict() and measure(), the last with ErrorKind run_failed when a rank fails; those of
// compare() and of the store. What was stored before an error stays.
Result<Validation> validate(const PlannedScenario& planned, bool calibrate, RankTeam* team, RunStore& store,
                            Console& console);

// The document of docs/json.md, `validate`.
Json validation_json(const Validation& validation);

}  // namespace shardlab
