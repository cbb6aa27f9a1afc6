// What a run leaves besides its spool: weights, and the load of experts.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/execute/torch/world.h"

namespace shardlab {

// Collective: all ranks call it, rank 0 writes. Stored dtype, the checkpoint's names. Errors:
// full_parameter()'s; run_failed when the file cannot be written.
Status save_weights(RankExecutor& executor, const ModelGraph& graph, int rank,
                    const std::filesystem::path& path);

// Writes how tokens spread over the experts of each layer, as model.moe.measured reads it.
// Collective: all ranks call it, rank 0 writes the sum over ranks, micro-batches and steps. Format:
// scenario/expert_load.h. Errors: run_failed when a peer is lost or the file cannot be written.
Status save_expert_load(const RankExecutor& executor, const ModelGraph& graph, const World& world,
                        const std::filesystem::path& path);

}  // namespace shardlab
