// What a scenario may say that is not built yet, in one place.
#pragma once

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"

namespace shardlab {

// bad_input "parallel.strategy: not supported yet: zero1" at the place where the key was given. Settings that
// are contradictory rather than unfinished are the business of validate.h.
Status check_supported(const Scenario& scenario, const ScenarioSource& source);

}  // namespace shardlab
