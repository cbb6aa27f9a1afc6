// The distillation loss over parts of the tokens, by whichever implementation of the loss itself. Private to
// this folder and the one below.
#pragma once

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// What differs between processors and devices.
struct ChunkedDistillationParts {
  const OperatorImplementation& loss;  // of distillation_loss; writes the student's gradient over its logits
  // Adds the rows of dlogits up into, or to, the gradient of the bias.
  void (*sum_into_bias)(const at::Tensor& gradient, bool accumulate, const at::Tensor& dlogits);
};

void chunked_distillation_forward(const ForwardArguments& arguments, const ChunkedDistillationParts& parts);

}  // namespace shardlab
