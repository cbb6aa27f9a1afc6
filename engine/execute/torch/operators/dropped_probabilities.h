// Dropout of attention's probabilities, in the operators that keep them. What is kept for it: drop_mask, and
// dropped, which the product with v reads in their place. Private to this folder.
#pragma once

#include <utility>

#include <ATen/ops/empty_like.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/random_mask.h"

namespace shardlab {

inline double dropped_share(const Operator& op) {
  return op.attributes.get_or(attribute::k_dropout, 0.0);
}

// In forward, where the operator drops any.
inline void drop_into_kept(const ForwardArguments& arguments, const KeptExtras& kept,
                           const at::Tensor& probabilities) {
  const double share = dropped_share(arguments.op);
  if (share == 0) return;
  const at::Tensor mask = kept.find("drop_mask");
  draw_mask(share, arguments.seeds, mask);
  apply_mask(share, probabilities, mask, kept.find("dropped"));
}

inline at::Tensor read_by_product(const KeptExtras& kept) {
  at::Tensor dropped = kept.find("dropped");
  return dropped.defined() ? dropped : kept.find("probabilities");
}

// In backward: from the gradient of what the product read to that of the probabilities.
inline at::Tensor through_dropout(const BackwardArguments& arguments, const KeptExtras& kept,
                                  at::Tensor gradient) {
  const double share = dropped_share(arguments.op);
  if (share == 0) return gradient;
  at::Tensor result = at::empty_like(gradient);
  apply_mask(share, gradient, kept.find("drop_mask"), result);
  gradient.reset();
  kept.give("drop_mask");
  return result;
}

}  // namespace shardlab
