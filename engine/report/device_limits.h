// What is known of the device that a planned scenario runs on.
#pragma once

#include "engine/report/summarize.h"

namespace shardlab {

// Peak rate for the model's compute dtype and memory, each absent when unknown.
Result<DeviceLimits> device_limits(const PlannedScenario& planned);

}  // namespace shardlab
