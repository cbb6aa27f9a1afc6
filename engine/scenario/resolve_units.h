// The settings of each unit: the scenario's own with the overrides of parallel.wrap.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/unit_settings.h"
#include "engine/model/wrap/wrap_modules.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

using SettingsByModule = std::map<ModuleId, UnitSettings>;

// Whether a backward follows the model's forward. None does for a teacher.
enum class Backward : std::uint8_t { follows, never };

// One entry for each of `wrapped.units`; an override that names one of several joined modules speaks of their
// unit. Of several
// overrides that match a unit the last wins, key by key. parallel.reshard_after_forward is for the units
// below the root, whose backward would gather it again at once: the root has it from an override alone, or
// where no backward follows. Errors: an override that matches no unit, with what there is; one that would
// have no effect on the unit.
Result<SettingsByModule> resolve_unit_settings(const Scenario& scenario, const ModelGraph& graph,
                                               const WrappedModules& wrapped,
                                               Backward backward = Backward::follows);

// The last override (position in parallel.wrap.overrides) that gives the unit of these modules its value of a
// key.
std::optional<std::size_t> deciding_override(const Scenario& scenario, const ModelGraph& graph,
                                             std::span<const ModuleId> unit, const std::string& key);

}  // namespace shardlab
