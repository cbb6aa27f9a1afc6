// How many steps a real run makes, and which of them it measures.
#pragma once

#include <cstdint>

#include "engine/plan/planned_scenario.h"

namespace shardlab {

// All of them, measured or not; where a schedule gives no total_steps, it ends with the last.
std::int64_t steps_of_run(const Scenario& scenario);

// The first steps, which are not measured: as many as asked for, and however few those are, all before the
// steady plan.
std::int64_t warmup_steps(const PlannedScenario& planned);

}  // namespace shardlab
