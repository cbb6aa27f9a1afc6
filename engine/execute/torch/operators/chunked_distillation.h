// The distillation loss over parts of the tokens, by whichever implementation of the loss itself. Private to
// this folder and the one below.
#pragma once

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// `loss`: an implementation of distillation_loss that writes the student's gradient over its logits.
void chunked_distillation_forward(const ForwardArguments& arguments, const OperatorImplementation& loss);

}  // namespace shardlab
