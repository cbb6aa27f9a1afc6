// Which modules of a model become units.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/wrap_spec.h"

namespace shardlab {

struct WrappedModules {
  std::vector<ModuleId> units;  // in definition order, hence the root first
};

// Runs the policy of `spec`. The root is a unit in any case. Never selected: containers without a
// forward, modules without parameters. Errors: a class or pattern that selects nothing; tied parameters whose
// modules would fall into different units. Source: torch 2.11, fsdp/wrap.py (_recursive_wrap).
Result<WrappedModules> wrap_modules(const ModelGraph& graph, const WrapSpec& spec);

}  // namespace shardlab
