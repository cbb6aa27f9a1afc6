// Walks a model through one step and tells its strategies what happens.
#pragma once

#include "engine/scenario/scenario.h"
#include "engine/strategies/step_strategies.h"

namespace shardlab {

// Emits LoadBatch, Forward, Recompute and Backward of every micro-batch with the strategies' instructions
// between them.
void drive_step(StepBuilder& builder, StepStrategies& strategies, const Scenario& scenario);

}  // namespace shardlab
