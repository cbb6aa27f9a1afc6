// Buffers that no instruction mentions and that do not live across steps: declared for a case that did not
// come.
#pragma once

#include "engine/plan/step_plan.h"

namespace shardlab {

// The same plan without them; the others keep their order.
StepPlan drop_unused_buffers(StepPlan plan);

}  // namespace shardlab
