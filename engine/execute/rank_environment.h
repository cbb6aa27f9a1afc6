// Who am I: rank and world of this process, from the variables that a launcher sets.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/scenario/run_words.h"

namespace shardlab {

using EnvironmentVariables = std::map<std::string, std::string, std::less<>>;

struct RankEnvironment {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  std::string master_address;
  int master_port = 0;
  Launcher launcher = Launcher::local;  // whose variables these are; local: this program's own
  friend bool operator==(const RankEnvironment&, const RankEnvironment&) = default;
};

// Looks for RANK / WORLD_SIZE / LOCAL_RANK (torchrun), then OMPI_COMM_WORLD_RANK / _SIZE / _LOCAL_RANK
// (mpirun), then SLURM_PROCID / SLURM_NTASKS / SLURM_LOCALID (srun; a batch step outside srun, without
// SLURM_STEP_ID, does not count). The first family that has any of its variables decides and must be complete
// and consistent. MASTER_ADDR and MASTER_PORT are used wherever they are set; without MASTER_ADDR Slurm gives
// the launching node (SLURM_LAUNCH_NODE_IPADDR, else the first name of SLURM_STEP_NODELIST or
// SLURM_JOB_NODELIST), and one host alone means 127.0.0.1; without MASTER_PORT Slurm and mpirun share a port
// derived from the job. No variables at all: nothing. Errors are bad_input and name the variable.
Result<std::optional<RankEnvironment>> rank_environment(const EnvironmentVariables& variables);

// The same, but for a launcher's only process (`srun -n1`), which is nobody's rank: it may start ranks
// itself.
Result<std::optional<RankEnvironment>> one_of_several(const EnvironmentVariables& variables);

// The variables of this process.
EnvironmentVariables current_environment();

}  // namespace shardlab
