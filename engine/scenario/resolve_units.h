// The settings of each unit: the scenario's own with the overrides of parallel.wrap.
#pragma once

#include <map>
#include <span>

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

}  // namespace shardlab
