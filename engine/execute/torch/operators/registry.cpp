#include <algorithm>

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

const std::vector<const OperatorImplementation*>& operator_implementations() {
  static const std::vector<const OperatorImplementation*> implementations = {
      &k_add_implementation,
      &k_add_positions_implementation,
      &k_attention_implementation,
      &k_cast_implementation,
      &k_combine_implementation,
      &k_cross_entropy_implementation,
      &k_dispatch_implementation,
      &k_distillation_loss_implementation,
      &k_eager_attention_implementation,
      &k_eager_cross_entropy_implementation,
      &k_eager_geglu_implementation,
      &k_eager_gelu_new_implementation,
      &k_eager_masked_attention_implementation,
      &k_eager_packed_rope_implementation,
      &k_eager_rms_norm_implementation,
      &k_eager_rope_implementation,
      &k_eager_soft_cap_implementation,
      &k_eager_swiglu_implementation,
      &k_embedding_implementation,
      &k_geglu_implementation,
      &k_gelu_implementation,
      &k_grouped_linear_implementation,
      &k_layer_norm_implementation,
      &k_linear_implementation,
      &k_linear_add_implementation,
      &k_rms_norm_implementation,
      &k_rope_implementation,
      &k_router_loss_implementation,
      &k_router_sums_implementation,
      &k_soft_cap_implementation,
      &k_swiglu_implementation,
      &k_token_chunked_loss_implementation,
      &k_top_k_implementation,
      &k_vocabulary_chunked_loss_implementation};
  return implementations;
}

const OperatorImplementation* find_implementation(std::string_view name) {
  const auto& all = operator_implementations();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const auto* implementation) { return implementation->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace shardlab
