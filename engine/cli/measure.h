// The real executor: runs a scenario on this machine and keeps what it measured.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/cli/finished_run.h"
#include "engine/execute/rank_job.h"

namespace shardlab {

struct MeasureOptions {
  TrainingExtras extras;
  std::filesystem::path keep_spool;  // folder for the ranks' files; empty: a temporary one
};

// not_possible when the scenario is for several machines and nothing started this process on them. What is
// missing on this one (a GPU, a build with CUDA) the ranks say.
Status check_measurable(const Scenario& scenario);

// What a rank would only find out after it was started: the training data and the folders of files to write.
Status check_inputs(const PlannedScenario& planned, const MeasureOptions& options);

// Runs, shows the progress, stores. The ranks' files are removed, unless they were to be kept or the run
// failed; its error says where they are. Started by torchrun, Slurm or mpirun this process is one rank: all
// but rank 0 return nothing.
Result<std::optional<FinishedRun>> measure(const PlannedScenario& planned, const MeasureOptions& options,
                                           RunStore& store, Console& console);

}  // namespace shardlab
