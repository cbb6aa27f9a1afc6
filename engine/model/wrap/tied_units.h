// Tied parameters and units.
#pragma once

#include <span>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/joined_modules.h"

namespace shardlab {

// Refuses units (besides the root) between which a tied parameter would be split. In torch 2.11 FSDP1 fails
// with a size mismatch at run time, and FSDP2 silently trains two parameters.
Status check_tied_parameters(const ModelGraph& graph, std::span<const ModuleId> units,
                             std::span<const JoinedModules> joined);

}  // namespace shardlab
