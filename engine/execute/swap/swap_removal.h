// What removes swapped files that nobody needs any more. No link is followed, and nothing of another user is
// touched.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace shardlab {

inline constexpr const char* k_swap_prefix = "shardlab-swap-";  // of a run's folder
inline constexpr const char* k_swap_lock = ".lock";             // in a rank's folder

// A rank's folder, open as `rank_folder`, with everything in it; whoever calls holds its lock. Where
// something cannot be removed the lock stays as well, so that the next run tries again.
void remove_rank_folder(int run_folder, const std::string& name, int rank_folder);

// Folders of ranks whose processes are gone, of this user and host, in the open folder `parent`; folders of
// runs of which no rank is left. What cannot be removed stays: it hinders nobody.
void remove_abandoned_swap(int parent);

// What a launcher calls when its ranks are gone: nothing of the run stays on the drive, locked or not.
// Nothing to do is no error. bad_input where `run` is none, not_possible where something cannot be removed,
// is a link or another user's.
Status remove_swap_of_run(const std::string& path, const std::string& run);

}  // namespace shardlab
