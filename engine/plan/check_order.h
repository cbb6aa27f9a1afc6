// The parts of check_plan. Private to this folder.
#pragma once

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// Those below find defects of whoever made the plan: what breaks a rule is an internal error, named by
// the plan and the instruction.
//
// Readers after writers, writers after readers, and no reuse of memory that another stream still uses.
Status check_device_order(const StepPlan& plan);

// When gradients are averaged over a group, every gradient that the optimizer reads went through
// exactly one reduction per production, and collectives carry the bytes of their buffers.
Status check_reductions(const StepPlan& plan);

// A segment of a micro-batch runs forward, at most once again if its forward kept nothing, and backward after
// that.
Status check_recomputations(const StepPlan& plan);

// Only copies cross from one memory space to another; segments run on the device; a drive gives and takes
// whole buffers, one by one, from and to page-locked memory.
Status check_spaces(const StepPlan& plan);

// Buffers without memory of their own lie inside a pool that is alive, and never upon each other.
Status check_pools(const StepPlan& plan);

// A copy of a parameter that lives into the next step was made after the optimizer's update.
Status check_copies(const StepPlan& plan);

}  // namespace shardlab
