#include <algorithm>

#include "engine/model/operators/operator_type.h"

namespace shardlab {

const std::vector<const OperatorType*>& operator_types() {
  static const std::vector<const OperatorType*> types = {&k_add,    &k_attention, &k_cross_entropy, &k_embedding,
                                                         &k_linear, &k_rms_norm,  &k_rope,          &k_swiglu};
  return types;
}

const OperatorType* find_operator_type(std::string_view name) {
  const auto& types = operator_types();
  const auto found = std::find_if(types.begin(), types.end(), [&](const OperatorType* type) { return type->name == name; });
  return found == types.end() ? nullptr : *found;
}

}  // namespace shardlab
