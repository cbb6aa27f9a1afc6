// Pass: frees what no strategy owns (batches, border tensors, their gradients, losses) after its last reader.
#pragma once

#include "engine/plan/step_plan.h"

namespace shardlab {

// Every device buffer that is neither carried, nor kept, nor freed anywhere gets a Free after the last
// instruction that mentions it. Instructions are renumbered. What another stream may still read is waited
// for.
StepPlan free_activations(StepPlan plan);

}  // namespace shardlab
