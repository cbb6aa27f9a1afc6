// What both implementations of eager_masked_attention share. Private to execute/torch.
#pragma once

#include <array>
#include <span>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include "engine/model/model_graph.h"
#include "engine/model/operators/attribute_keys.h"

namespace shardlab {

// Inputs of attention for kernels that know of causality by themselves and add biases by key: those of the
// last query, which sees all keys.
inline std::array<at::Tensor, 2> with_biases_by_key(std::span<const at::Tensor> inputs) {
  const at::Tensor& mask = inputs[1];
  return {inputs[0], mask.select(0, 0).select(1, mask.size(2) - 1).to(at::kFloat).contiguous()};
}

// As autograd of torch 2.11 gets from the gradients of q, k and v, all in `packed`, to that of the tensor
// that they are views of: of each a tensor of zeros with the part in it, added up (FunctionsManual.cpp,
// select_backward).
inline void add_gradients_of_views(const Operator& op, const at::Tensor& packed) {
  const at::Tensor sum = packed.view({packed.size(0), packed.size(1), op.attributes.get(attribute::k_heads),
                                      3, op.attributes.get(attribute::k_head_dim)});
  const auto add_placed = [&](std::int64_t which, at::Tensor part) {
    const at::Tensor whole = at::zeros_like(sum);
    whole.select(3, which).copy_(part);
    part.reset();
    sum.add_(whole);
  };
  at::Tensor q = sum.select(3, 0).clone(), k = sum.select(3, 1).clone();
  sum.narrow(3, 0, 2).zero_();
  add_placed(1, std::move(k));
  add_placed(0, std::move(q));
}

}  // namespace shardlab
