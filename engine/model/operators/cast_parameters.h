// What torch.autocast adds to an operator whose parameters have another dtype than it computes in (torch
// 2.11, ATen/autocast_mode.cpp, cached_cast; the gradient is cast back by ToCopyBackward).
//
// A weight's copy is kept for the gradient of the operator's input; autocast's cache holds on to the same
// copy, so that it takes no more, but where activation checkpointing throws away what autograd kept: the
// cache then holds copies of leaves until forward ends, which is left out here. FSDP1's parameters are views,
// which are not cached.
#pragma once

#include "engine/model/operators/work.h"

namespace shardlab {

// Adds to the description of an operator on `x` the casts of its parameters; nothing where the operator has
// no attribute k_parameter_dtype. The first parameter is the weight.
inline void add_parameter_casts(const ModelGraph& graph, const Operator& op, const Tensor& x,
                                OperatorDescription& description) {
  const std::optional<DType> stored = op.attributes.find(attribute::k_parameter_dtype);
  if (!stored) return;
  std::vector<Work> casts;
  for (std::size_t i = 0; i < op.parameters.size(); ++i) {
    const Parameter& parameter = graph.parameter(op.parameters[i]);
    const Bytes cast = bytes_of(parameter.elements(), x.dtype);
    const Bytes traffic = cast + bytes_of(parameter.elements(), *stored);
    casts.push_back(memory_work(traffic));
    if (i == 0 && x.requires_grad) {
      description.extras.push_back({"cast_weight", parameter.shape, x.dtype});
    } else {
      description.forward_temporaries += cast;
    }
    if (!parameter.requires_grad) continue;
    description.backward.push_back(memory_work(traffic));
    description.backward_temporaries += cast;
  }
  description.forward.insert(description.forward.begin(), casts.begin(), casts.end());
}

}  // namespace shardlab
