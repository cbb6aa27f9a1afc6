#include <algorithm>

#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

const std::vector<const OperatorImplementation*>& device_operator_implementations() {
  static const std::vector<const OperatorImplementation*> implementations = {
      &k_add_implementation,
      &k_device_add_positions,
      &k_device_attention,
      &k_cast_implementation,
      &k_device_combine,
      &k_device_cross_entropy,
      &k_device_dispatch,
      &k_device_distillation_loss,
      &k_eager_attention_implementation,
      &k_eager_cross_entropy_implementation,
      &k_eager_geglu_implementation,
      &k_eager_gelu_new_implementation,
      &k_device_eager_masked_attention,
      &k_eager_packed_rope_implementation,
      &k_eager_rms_norm_implementation,
      &k_eager_rope_implementation,
      &k_eager_soft_cap_implementation,
      &k_eager_swiglu_implementation,
      &k_device_embedding,
      &k_device_geglu,
      &k_device_gelu,
      &k_device_grouped_linear,
      &k_device_layer_norm,
      &k_device_linear,
      &k_linear_add_implementation,
      &k_device_rms_norm,
      &k_device_rope,
      &k_device_router_loss,
      &k_device_router_sums,
      &k_device_soft_cap,
      &k_device_swiglu,
      &k_device_token_chunked_loss,
      &k_device_top_k,
      &k_device_vocabulary_chunked_loss};
  return implementations;
}

const OperatorImplementation* find_device_implementation(std::string_view name) {
  const auto& all = device_operator_implementations();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto* implementation) { return implementation->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace shardlab
