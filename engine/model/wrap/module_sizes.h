// How large modules are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model_graph.h"

namespace shardlab {

// Elements of the parameters of every module and all below it, by ModuleId; a tied parameter counts once in
// each module, like sum(p.numel() for p in module.parameters()). Those with `left_out` (by ParameterId) do
// not count.
std::vector<std::int64_t> module_elements(const ModelGraph& graph, const std::vector<bool>& left_out);

// Whether `inner` is `outer` or lies below it.
bool lies_within(const ModelGraph& graph, ModuleId inner, ModuleId outer);

// Whether it lies within one of them.
bool lies_within_any(const ModelGraph& graph, ModuleId inner, std::span<const ModuleId> outer);

}  // namespace shardlab
