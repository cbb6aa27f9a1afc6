// This host's monotonic clock.
#pragma once

#include "engine/base/units.h"

namespace shardlab {

// Nanoseconds since some moment before this process.
Nanoseconds monotonic_now();

}  // namespace shardlab
