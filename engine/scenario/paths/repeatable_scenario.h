// A scenario that means the same in any folder.
#pragma once

#include <string>

#include "engine/scenario/scenario.h"

namespace shardlab {

// YAML in which files that lie beside the scenario's own file have absolute paths; what ships with the
// program keeps its name.
std::string repeatable_scenario(Scenario scenario);

}  // namespace shardlab
