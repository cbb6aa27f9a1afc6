// The communicators that a run's plans need.
#pragma once

#include "engine/base/result.h"
#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// One communicator for each group of more than one rank that a plan of the run names, connecting `rank` with
// the other members of its group. All ranks call it: they connect group after group in the plans' order.
Result<Communicators> connect_groups(const Rendezvous& rendezvous, const PlannedScenario& planned, int rank);

}  // namespace shardlab
