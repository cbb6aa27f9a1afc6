// A scenario of which only the cluster matters: for what measures a machine and trains nothing.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// The smallest scenario with this cluster, written as the section is ("{device: cpu, ranks: 2}"). Where it is
// not understood, bad_input at the option --cluster of the commands that take one.
Result<Scenario> scenario_of_cluster(const std::string& cluster);

}  // namespace shardlab
