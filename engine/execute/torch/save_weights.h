// Writes the trained parameters as one safetensors file.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/execute/torch/rank_executor.h"

namespace shardlab {

// Collective: all ranks call it, rank 0 writes. Stored dtype, the checkpoint's names.
Status save_weights(RankExecutor& executor, const ModelGraph& graph, int rank,
                    const std::filesystem::path& path);

}  // namespace shardlab
