// Environment variables that a scenario may give to its ranks.
//
// A scenario is data: reading one from somebody else must run nothing but its training. So variables that
// make a process load or run a file are refused wherever they stand, and a run takes those alone that the
// ranks' libraries read. What else a shell sets, ranks of a launcher have from the shell.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {

// Names a file that the loader, a library or an interpreter would load or run: LD_PRELOAD, NCCL_NET_PLUGIN.
bool loads_code(std::string_view variable);

// Read by NCCL, Gloo, torch, CUDA, OpenMP, MKL or a network library, and does not load code.
bool is_of_ranks(std::string_view variable);

// What a run asks of launch.env: bad_input for a variable that is not is_of_ranks().
Status check_rank_variables(const LaunchSpec& launch);

}  // namespace shardlab
