// What a rank of a real run is given and obeys beside its plan.
#pragma once

#include <string>

#include "engine/plan/planned_scenario.h"

namespace shardlab::test {

// As a text, what the code that obeys the key makes of the scenario. Fails for a key that it does not know.
std::string what_a_rank_obeys(const std::string& key, const PlannedScenario& planned);

}  // namespace shardlab::test
