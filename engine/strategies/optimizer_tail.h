// What follows backward in every strategy: gradient norms and clipping, the optimizer, dropping the
// gradients; and an optimizer within backward.
#pragma once

#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

// Optimizer states are allocated by the first step, as torch.optim does, and carried by later ones. With a
// scaled loss gradients are unscaled first, and clipping and optimizer are skipped by all ranks when one of
// them found a gradient that is not finite.
void emit_optimizer_tail(StepBuilder& builder, Strategy& strategy, const TrainSpec& train,
                         bool scaled_loss = false);

// Within backward, after that of a segment (train.optimizer_in_backward, as torchtune 0.1 does it with
// Tensor.register_post_accumulate_grad_hook, training/memory.py): updates the units of which no gradient is
// to come and drops what they had. The tail finds none of them.
void emit_optimizer_in_backward(StepBuilder& builder, Strategy& strategy, const TrainSpec& train,
                                SegmentId segment);

}  // namespace shardlab
