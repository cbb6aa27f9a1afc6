// The real executor: runs a scenario on this machine and keeps what it measured.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/cli/finished_run.h"

namespace shardlab {

struct MeasureOptions {
  std::filesystem::path save_weights;  // empty: not saved
  std::filesystem::path keep_spool;    // folder for the ranks' files; empty: a temporary one
  bool poison = false;
};

// not_possible when this machine or build cannot run the scenario for real.
Status check_measurable(const Scenario& scenario);

// What a rank would only find out after it was started: the training data and the folder of --save-weights.
Status check_inputs(const PlannedScenario& planned, const MeasureOptions& options);

// Runs, shows the progress, stores. The ranks' files are removed, unless they were to be kept or the run
// failed; its error says where they are. Started by torchrun, Slurm or mpirun this process is one rank: all
// but rank 0 return nothing.
Result<std::optional<FinishedRun>> measure(const PlannedScenario& planned, const MeasureOptions& options,
                                           RunStore& store, Console& console);

}  // namespace shardlab
