// What follows backward in every strategy: gradient norms and clipping, the optimizer, dropping the gradients.
#pragma once

#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

// Optimizer states are allocated by the first step, as torch.optim does, and carried by later ones.
void emit_optimizer_tail(StepBuilder& builder, Strategy& strategy, const TrainSpec& train);

}  // namespace shardlab
