// How long a rank waits in a collective before it holds its peers for lost.
#pragma once

#include <chrono>

#include "engine/scenario/scenario.h"

namespace shardlab {

// launch.timeout as given; left at its default it means 30 seconds on this machine's processors, where ranks
// do equal work and a peer that is late by more has stopped. Arrival of all ranks at the start may always
// take launch.timeout.
std::chrono::milliseconds collective_timeout(const Scenario& scenario);
std::chrono::milliseconds arrival_timeout(const Scenario& scenario);

}  // namespace shardlab
