// What a plan is warned about: units, and limits of the device.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/report/summarize.h"

namespace shardlab {

// One sentence or two for each giant unit: one that holds parameters of several layers and more of them than
// a whole layer has. Such a unit is gathered as one, so sharding saves less memory than the policy seems to
// say. Empty under strategies that gather nothing.
std::vector<std::string> unit_warnings(const PlannedScenario& planned);

// What is known of the device that a planned scenario runs on.

// Peak rate for the model's compute dtype and memory, each absent when unknown. Errors:
// resolve_device()'s.
Result<DeviceLimits> device_limits(const PlannedScenario& planned);

}  // namespace shardlab
