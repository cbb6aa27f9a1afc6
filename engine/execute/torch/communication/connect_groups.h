// The communicators that a job needs.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// Ranks that communicate with each other.
struct RankGroup {
  RankSet set;             // the same for all members, another for every group of a rank
  std::vector<int> ranks;  // of the world, ascending; more than one
};

// Each group that a plan of the run names and `rank` is in, in the plans' order.
std::vector<RankGroup> groups_of(const PlannedScenario& planned, int rank);

// One communicator a group, connecting `rank` with the other members. All ranks call it: they connect group
// after group.
Result<Communicators> connect_groups(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups,
                                     int rank);

}  // namespace shardlab
