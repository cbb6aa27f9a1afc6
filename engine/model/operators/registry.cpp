#include <algorithm>

#include "engine/model/operators/operator_list.h"

namespace shardlab {

OperatorDescription describe_operator(const ModelGraph& graph, const Operator& op) {
  OperatorDescription description = op.type->describe(graph, op);
  description.has_backward = std::any_of(op.outputs.begin(), op.outputs.end(),
                                         [&](TensorId id) { return graph.tensor(id).requires_grad; });
  if (description.has_backward) return description;
  description.saved_inputs = description.saved_outputs = 0;
  description.backward_workspace = description.backward_temporaries = {};
  description.backward.clear();
  description.backward_blocks.clear();
  return description;
}

const std::vector<const OperatorType*>& operator_types() {
#define SHARDLAB_TYPE(name, device) &k_##name,
  static const std::vector<const OperatorType*> types = {SHARDLAB_OPERATORS(SHARDLAB_TYPE)};
#undef SHARDLAB_TYPE
  return types;
}

const OperatorType* find_operator_type(std::string_view name) {
  const auto& types = operator_types();
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const OperatorType* type) { return type->name == name; });
  return found == types.end() ? nullptr : *found;
}

bool has_experts(const ModelGraph& graph) {
  return std::any_of(graph.operators.begin(), graph.operators.end(),
                     [](const Operator& op) { return op.type->expert_counts.has_value(); });
}

}  // namespace shardlab
