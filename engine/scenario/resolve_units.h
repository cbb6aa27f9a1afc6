// The settings of each unit: the scenario's own with the overrides of parallel.wrap.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/unit_settings.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

using SettingsByModule = std::map<ModuleId, UnitSettings>;

// One entry for each of `units`, the modules that are units (the root among them, in definition order). Of
// several overrides that match a unit the last wins, key by key. Errors: an override that matches no unit,
// with what there is.
Result<SettingsByModule> resolve_unit_settings(const Scenario& scenario, const ModelGraph& graph,
                                               std::span<const ModuleId> units);

// The last override (position in parallel.wrap.overrides) that gives the unit of this module its value of a
// key.
std::optional<std::size_t> deciding_override(const Scenario& scenario, const ModelGraph& graph, ModuleId unit,
                                             const std::string& key);

}  // namespace shardlab
