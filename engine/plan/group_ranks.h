// Which ranks a group of a plan stands for.
#pragma once

#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// The ranks of the group that `rank` belongs to, ascending. Ranks lie on the mesh in row-major order of
// (replicate, shard, tensor, expert), so that the ranks of a shard group are neighbours (those of one node,
// when a shard group fills a node) and a replicate group joins the ranks at one place of each, as
// init_device_mesh((replicate, shard)) of torch 2.11 lays them. Parts of a dimension are neighbours, and
// their size divides it, as fully_shard cuts its mesh for an integer reshard_after_forward. A group across
// them has a member in each.
std::vector<int> ranks_of_group(const Group& group, const Scenario& scenario, int rank);

// All sets of ranks that the group stands for, side by side, each ascending; every rank of `ranks` is in one.
std::vector<std::vector<int>> rank_sets_of_group(const Group& group, const Scenario& scenario, int ranks);

}  // namespace shardlab
