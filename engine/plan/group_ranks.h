// From a group of a plan to ranks.
#pragma once

#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// The ranks of the group that `rank` belongs to, ascending. Ranks lie on the mesh in row-major order of
// (replicate, shard, tensor, expert), so that the ranks of a shard group are neighbours, as
// init_device_mesh((replicate, shard)) of torch 2.11 lays them. Expressions: "world", "replicate", "shard",
// "tensor", "expert".
std::vector<int> ranks_of_group(const Group& group, const Scenario& scenario, int rank);

}  // namespace shardlab
