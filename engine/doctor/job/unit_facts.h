// What the plan tells about units.
#pragma once

#include <optional>

#include "engine/base/ids.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// A unit that is gathered and holds parameters of several layers and more than 25 % of the model, of the root
// more than 50 %; the largest. Where the model has fewer layers, more than two of them.
std::optional<UnitId> giant_unit(const PlannedScenario& planned);

// The repeated layers that parameters of the unit lie in.
std::size_t layers_in(const ModelGraph& graph, const Unit& unit);

// Whether parameters are gathered at all.
bool gathers(const StepPlan& plan);

}  // namespace shardlab
