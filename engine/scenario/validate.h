// Relations between the keys of a scenario: what must be given, what contradicts, what would have no effect.
// Types, names and ranges of single keys are checked when they are read.
#pragma once

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/source.h"

namespace shardlab {

// All violations, up to ten, as one bad_input with one line each.
Status validate_scenario(const Scenario& scenario, const ScenarioSource& source = ScenarioSource());

// What a scenario may say and is not built yet: values of the table of unsupported.h, and what works but not
// beside another setting of the scenario.

// bad_input "parallel.strategy: not supported yet: zero1" at the place where the key was given. Settings that
// are contradictory rather than unfinished are the business of validate.h.
Status check_supported(const Scenario& scenario, const ScenarioSource& source);

}  // namespace shardlab
