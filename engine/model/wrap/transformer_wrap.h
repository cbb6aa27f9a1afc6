// The `transformer` wrap policy: every module whose class is in a list becomes a unit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Empty `classes`: the repeated layer of the family. A class no module has is an error with the nearest known one.
Result<std::vector<ModuleId>> modules_of_classes(const ModelGraph& graph, std::span<const std::string> classes);

}  // namespace shardlab
