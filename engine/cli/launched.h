// Commands of which torchrun, srun or mpirun starts a process for every rank.
#pragma once

#include <functional>

#include "engine/base/result.h"
#include "engine/cli/console.h"
#include "engine/execute/rank_team.h"

namespace shardlab {

// Does the command: alone, with no team, unless a launcher started this process as one of several. Then rank
// 0 does it with its team and says so in a note; the others become ranks for it, print nothing, and end with
// rank 0's exit code. The ranks' files meet in a folder of the current directory. Errors: bad_input for a
// launcher's variables that make no sense (rank_environment.h); those of `command`, and of follow_rank_0().
Result<int> run_launched(Console& console, const std::function<Result<int>(RankTeam* team)>& command);

}  // namespace shardlab
