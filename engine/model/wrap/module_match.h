// Patterns over modules: by path, class and number of elements. Used by the `lambda` policy, by overrides of
// single units and by the list of ignored modules.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/wrap_spec.h"

namespace shardlab {

// ModuleList and ModuleDict have no forward: nothing would gather them, so they are never units (fully_shard
// raises an error, FSDP1's size policy leaves them out).
bool is_container(const Module& module);

// `elements`: of the module's parameters and all below it.
bool matches_module(const WrapMatch& pattern, const Module& module, std::int64_t elements);

// All modules that match. A path or class that no module has, or a pattern that selects nothing, is refused
// with the nearest there is. `elements` by ModuleId; `key`: the pattern's dotted key in the scenario.
Result<std::vector<ModuleId>> matching_modules(const ModelGraph& graph,
                                               std::span<const std::int64_t> elements,
                                               const WrapMatch& pattern, const std::string& key);

// Refuses a class that no module has, and a container.
Status check_unit_class(const ModelGraph& graph, const std::string& class_name, const std::string& key);

}  // namespace shardlab
