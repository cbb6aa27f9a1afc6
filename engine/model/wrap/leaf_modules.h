// Leaf modules of ZeRO-3: gathered whole, with all that is below them, by one hook.
//
// Source: DeepSpeed 0.19.8, utils/z3_leaf_module.py (apply_zero_leaf_module_config).
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/wrap/leaf_spec.h"

namespace shardlab {

// The outermost of the modules that it names and that have parameters, in definition order.
std::vector<ModuleId> leaf_modules(const ModelGraph& graph, const LeafSpec& spec);

// Refuses a class or name of the user's that no module has, of which DeepSpeed warns; `key` is where it
// stands.
Status check_leaf_modules(const ModelGraph& graph, const LeafSpec& spec, const std::string& key);

}  // namespace shardlab
