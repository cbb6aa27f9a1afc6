// What a user should know about the units that a wrap policy made.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"

namespace shardlab {

// One sentence or two for each giant unit: one that holds parameters of several layers and more of them than
// a whole layer has. Such a unit is gathered as one, so sharding saves less memory than the policy seems to
// say. Empty under strategies that gather nothing.
std::vector<std::string> unit_warnings(const PlannedScenario& planned);

}  // namespace shardlab
