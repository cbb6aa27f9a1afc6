// The program that runs one rank of a real run.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace shardlab {

// For processors: shardlab-rank beside this program, or, for GPUs, shardlab-rank-cuda where this build has
// it; not_possible when there is none or when its libraries are not found. Libtorch is the one it was linked
// with, or that of $SHARDLAB_TORCH_DIR (rank_libraries.h, which says what that does to this process's
// environment).
Result<std::filesystem::path> rank_program(bool on_gpus);

}  // namespace shardlab
