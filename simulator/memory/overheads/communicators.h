// The communicators that a run opens, as its plans use them.
#pragma once

#include <string>
#include <vector>

#include "engine/hardware/device.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

struct PlannedCommunicator {
  std::string name;  // of the group, as in plans: "shard"
  int ranks = 1;
  int nodes = 1;           // that its ranks lie on; one where an NVLink switch joins them
  int ranks_per_node = 1;  // of it
  bool rings = false;      // gathers, reductions to shards, broadcasts
  bool all_to_all = false;
  std::vector<Bytes> all_reduces;  // by size, each once, ascending
};

// One for each set of ranks, those of rank 0, over all plans of the run: torch keeps a communicator for each
// process group, and a mesh dimension that spans all ranks is the default group. Groups of one rank do not
// communicate.
std::vector<PlannedCommunicator> communicators_of(const PlannedScenario& planned, const Device& device);

}  // namespace shardlab
