// Walks a model through one step and tells a strategy what happens.
#pragma once

#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

// Emits LoadBatch, Forward, Recompute and Backward of every micro-batch with the strategy's instructions
// between them.
void drive_step(StepBuilder& builder, Strategy& strategy, const TrainSpec& train);

}  // namespace shardlab
