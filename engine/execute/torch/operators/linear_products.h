// The matrix products of linear, by ATen on two-dimensional views: the same on every device. Private to the
// operators.
#pragma once

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

void linear_forward(const ForwardArguments& arguments);

// Those of the input and the weight that are wanted; not the bias'.
void linear_gradients(const BackwardArguments& arguments);

}  // namespace shardlab
