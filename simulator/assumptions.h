// What a prediction takes for given and cannot know.
#pragma once

#include <string>
#include <vector>

#include "engine/hardware/device.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// One sentence each, for people: which figures of the device are estimates (unless it was calibrated),
// whose network between nodes was taken where the scenario names none, what a rank is where cards hold
// several, dtypes that the device has no units for, how tokens spread over experts.
std::vector<std::string> assumptions_of(const PlannedScenario& planned, const Device& device,
                                        bool calibrated);

}  // namespace shardlab
