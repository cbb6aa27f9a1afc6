// Modules that are one unit although they are several: `fully_shard([norm, lm_head])`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// The modules of one unit, in the order in which their parameters lie in it.
using JoinedModules = std::vector<ModuleId>;

// For each list of patterns (base/path_pattern.h) the modules that they name, pattern by pattern, those of
// one pattern in definition order; what lies within another of them is left out (torch.distributed.utils,
// _get_root_modules). Refuses a pattern that names no module, containers, modules without parameters, the
// model itself, ignored modules, a list that names one module alone, and a module in two lists.
Result<std::vector<JoinedModules>> joined_modules(const ModelGraph& graph,
                                                  std::span<const std::vector<std::string>> lists,
                                                  std::span<const ModuleId> ignored);

// `units` with the modules of each list replaced by its first. Refuses modules of one list that lie in
// different units: execution would leave one of these before the other is entered.
Result<std::vector<ModuleId>> with_joined_units(const ModelGraph& graph, std::vector<ModuleId> units,
                                                std::span<const JoinedModules> joined);

}  // namespace shardlab
