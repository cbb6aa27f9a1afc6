// Logits that a training program holds while backward runs.
//
// `outputs = model(...); outputs.loss.backward()` leaves them in a variable of Python: torch frees them when
// the variable is bound anew, not when the loss has read them. Programs that gave them up: torchtitan in June
// 2024
// ("to save 3.9G", pytorch/torchtitan pull request 391), llama-recipes in July 2023
// (meta-llama/llama-cookbook pull request 41). transformers' Trainer never held them: its compute_loss
// returns the loss alone.
#pragma once

#include <optional>

#include "engine/strategies/step_builder.h"

namespace shardlab {

struct LossSpec;

// Emitted between forward and backward, where the loss says that they are held: a buffer as large as the
// logits in that dtype. What is held on, through the optimizer and the next forward, is left out: steps are
// highest in backward.
std::optional<BufferId> hold_logits(StepBuilder& builder, const LossSpec& loss, int micro_batch);

void give_up_logits(StepBuilder& builder, BufferId held);

}  // namespace shardlab
