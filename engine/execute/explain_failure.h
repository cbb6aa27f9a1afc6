// One error out of what all ranks of a failed run left behind. Private to this folder.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/execute/rank_job.h"
#include "engine/execute/watch_ranks.h"

namespace shardlab {

// Reads the ranks' spools and logs. The rank that died, hung or reported first is named first, then where the
// others were; words and advice suit the kind of job.
Error explain_failure(const WatchOutcome& outcome, const std::filesystem::path& run_directory,
                      JobKind kind = JobKind::train);

// "rank-3.log" in the folder of the run.
std::filesystem::path rank_log_path(const std::filesystem::path& run_directory, int rank);

}  // namespace shardlab
