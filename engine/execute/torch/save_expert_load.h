// Writes how tokens spread over the experts of each layer, as model.moe.measured reads it.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/execute/torch/world.h"

namespace shardlab {

// Collective: all ranks call it, rank 0 writes the sum over ranks, micro-batches and steps. Format:
// scenario/expert_load.h.
Status save_expert_load(const RankExecutor& executor, const ModelGraph& graph, const World& world,
                        const std::filesystem::path& path);

}  // namespace shardlab
