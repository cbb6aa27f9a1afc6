// What follows backward in every strategy: gradient norms and clipping, the optimizer, dropping the
// gradients.
#pragma once

#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

// Optimizer states are allocated by the first step, as torch.optim does, and carried by later ones. With a
// scaled loss gradients are unscaled first, and clipping and optimizer are skipped by all ranks when one of
// them found a gradient that is not finite.
void emit_optimizer_tail(StepBuilder& builder, Strategy& strategy, const TrainSpec& train,
                         bool scaled_loss = false);

}  // namespace shardlab
