// Which buffers of a plan are cut from one tensor. Private to this folder.
//
// Source: DeepSpeed 0.19.8.
// - runtime/zero/stage3.py: the shards of all trained parameters lie in one tensor (lp_param_buffer), unless
//   they rest on the host, and so do this rank's gradients of all sub-groups (grad_partitions_flat_buffer).
//   Plans have a buffer a parameter, and one a sub-group.
// - runtime/zero/stage_1_and_2.py: whole gradients of all parameters that a rank has a part of lie in one
//   tensor (grads_in_partition). Plans have a buffer for the part, and one for what lies beside it.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/planned_scenario.h"

namespace shardlab {

// The shards of trained parameters on the device, in the plan's order; none under another strategy.
std::vector<BufferId> joined_shards(const PlannedScenario& planned, const StepPlan& plan);

// By buffer: of those that are cut from one tensor the first has the bytes of all, the others have none.
// Absent: it has memory of its own.
std::vector<std::optional<Bytes>> joined_storages(const PlannedScenario& planned, const StepPlan& plan);

}  // namespace shardlab
