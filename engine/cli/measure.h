// The real executor: runs a scenario on this machine and keeps what it measured.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/base/result.h"
#include "engine/cli/stored_runs.h"
#include "engine/execute/rank_job.h"
#include "engine/execute/rank_team.h"

namespace shardlab {

struct MeasureOptions {
  TrainingExtras extras;
  std::filesystem::path keep_spool;  // folder for the ranks' files; empty: a temporary one
  RankTeam* team = nullptr;          // the processes that become the ranks; null: as run does (measure())
};

// not_possible when the scenario is for several machines, or names a launcher, and nothing started this
// process so: said before anything is calibrated or planned. What is missing on this machine (a GPU, a build
// with CUDA) the ranks say.
Status check_measurable(const Scenario& scenario);

// What a rank would only find out after it was started: the training data and the folders of files to write.
Status check_inputs(const PlannedScenario& planned, const MeasureOptions& options);

// Runs, shows the progress, stores. The ranks' files are removed, unless they were to be kept or the run
// failed; its error says where they are, and the console keeps what the doctor makes of them. Without a team,
// and started by torchrun, Slurm or mpirun as one of several, this process is one rank: all but rank 0 return
// nothing.
Result<std::optional<FinishedRun>> measure(const PlannedScenario& planned, const MeasureOptions& options,
                                           RunStore& store, Console& console);

// The program that runs one rank of a real run.

// For processors: shardlab-rank beside this program, or, for GPUs, shardlab-rank-cuda where this build has
// it; not_possible when there is none or when its libraries are not found. Libtorch is the one it was linked
// with, or that of $SHARDLAB_TORCH_DIR (rank_libraries.h, which says what that does to this process's
// environment).
Result<std::filesystem::path> rank_program(bool on_gpus);

}  // namespace shardlab
