// What both implementations of eager_windowed_attention share: the steps around their kernels. Private to
// execute/torch.
#pragma once

#include <array>

#include "engine/execute/torch/operators/eager_parts.h"

namespace shardlab {

// What the kernel of attention is handed. Behind repeat_kv, where repeated keys and values are kept, there is
// a key head for each query head.
struct WindowedCall {
  Operator op;
  std::array<at::Tensor, 3> inputs;  // q, k, v
  bool repeated = false;

  // `given`: the operator's inputs, of which backward has those that are saved.
  WindowedCall(const Operator& op, const KeptExtras& kept, std::span<const at::Tensor> given);
};

// Repeats keys and values, and makes the matrix of the mask.
void fill_kept(const ForwardArguments& arguments, const KeptExtras& kept);

// Gradients of q, k and v for the kernel to write: those of the inputs, or of repeated keys and values.
std::array<at::Tensor, 3> kernel_gradients(const BackwardArguments& arguments, const WindowedCall& call);

// Adds up what the query heads of a group gave, where keys and values were repeated.
void finish_gradients(const BackwardArguments& arguments, const WindowedCall& call,
                      std::array<at::Tensor, 3> gradients);

}  // namespace shardlab
