// Which ranks a group of a plan stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// The ranks of the group that `rank` belongs to, ascending. Ranks lie on the mesh in row-major order of
// (replicate, shard, tensor, expert), so that the ranks of a shard group are neighbours (those of one node,
// when a shard group fills a node) and a replicate group joins the ranks at one place of each, as
// init_device_mesh((replicate, shard)) of torch 2.11 lays them. Expressions: "world", a dimension
// ("replicate", "shard", "tensor", "expert"), or a dimension cut into neighbouring sub-groups of k ranks
// ("shard/2"; k divides the dimension), as fully_shard cuts its mesh for an integer reshard_after_forward.
// With the prefix "teacher." they speak of the teacher's mesh, where that is another one than the student's.
std::vector<int> ranks_of_group(const Group& group, const Scenario& scenario, int rank);

// The expression of a dimension cut into sub-groups of `size` ranks.
std::string sub_group(std::string_view dimension, int size);

}  // namespace shardlab
