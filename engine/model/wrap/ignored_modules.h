// Modules that stay outside all units: every rank holds their parameters whole.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// The outermost modules that the patterns (base/path_pattern.h) name, in definition order. Refuses a pattern
// that names no module or the model itself, modules with trained parameters, and parameters that are tied to
// ones outside.
Result<std::vector<ModuleId>> ignored_modules(const ModelGraph& graph, std::span<const std::string> patterns);

// By ParameterId: registered within one of the modules.
std::vector<bool> parameters_within(const ModelGraph& graph, std::span<const ModuleId> modules);

}  // namespace shardlab
