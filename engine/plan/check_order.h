// The parts of check_plan. Private to this folder.
#pragma once

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// Readers after writers, writers after readers, and no reuse of memory that another stream still uses.
Status check_device_order(const StepPlan& plan);

// With a group over which gradients are averaged: every gradient that the optimizer reads went through
// exactly one reduction per production, and collectives carry the bytes of their buffers.
Status check_reductions(const StepPlan& plan);

// A segment of a micro-batch runs forward, at most once again if its forward kept nothing, and backward after
// that.
Status check_recomputations(const StepPlan& plan);

}  // namespace shardlab
