#include <algorithm>

#include "engine/model/operators/operator_type.h"

namespace shardlab {

OperatorDescription describe_operator(const ModelGraph& graph, const Operator& op) {
  OperatorDescription description = op.type->describe(graph, op);
  description.has_backward = std::any_of(op.outputs.begin(), op.outputs.end(),
                                         [&](TensorId id) { return graph.tensor(id).requires_grad; });
  if (description.has_backward) return description;
  description.saved_inputs = description.saved_outputs = 0;
  description.backward_workspace = description.backward_temporaries = {};
  description.backward.clear();
  return description;
}

const std::vector<const OperatorType*>& operator_types() {
  static const std::vector<const OperatorType*> types = {&k_add,
                                                         &k_add_positions,
                                                         &k_attention,
                                                         &k_cast,
                                                         &k_combine,
                                                         &k_cross_entropy,
                                                         &k_dispatch,
                                                         &k_distillation_loss,
                                                         &k_eager_attention,
                                                         &k_eager_cross_entropy,
                                                         &k_eager_geglu,
                                                         &k_eager_gelu_new,
                                                         &k_eager_masked_attention,
                                                         &k_eager_packed_rope,
                                                         &k_eager_rms_norm,
                                                         &k_eager_rope,
                                                         &k_eager_soft_cap,
                                                         &k_eager_swiglu,
                                                         &k_embedding,
                                                         &k_geglu,
                                                         &k_gelu,
                                                         &k_grouped_linear,
                                                         &k_layer_norm,
                                                         &k_linear,
                                                         &k_linear_add,
                                                         &k_rms_norm,
                                                         &k_rope,
                                                         &k_router_loss,
                                                         &k_router_sums,
                                                         &k_soft_cap,
                                                         &k_swiglu,
                                                         &k_token_chunked_loss,
                                                         &k_top_k,
                                                         &k_vocabulary_chunked_loss};
  return types;
}

const OperatorType* find_operator_type(std::string_view name) {
  const auto& types = operator_types();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const OperatorType* type) { return type->name == name; });
  return found == types.end() ? nullptr : *found;
}

}  // namespace shardlab
