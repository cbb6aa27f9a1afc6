#include "engine/execute/torch/cuda/operators/cuda_operators.h"

#include <utility>

#include "engine/model/operators/operator_list.h"

namespace shardlab {

const OperatorImplementation* find_cuda_implementation(std::string_view name) {
  using Row = std::pair<const OperatorType*, const OperatorImplementation*>;
  for (const auto& [type, implementation] : {Row{&k_compiled_cross_entropy, &k_cuda_cross_entropy},
                                             {&k_cross_entropy, &k_cuda_cross_entropy},
                                             {&k_rms_norm, &k_cuda_rms_norm},
                                             {&k_rope, &k_cuda_rope},
                                             {&k_swiglu, &k_cuda_swiglu}}) {
    if (type->name == name) return implementation;
  }
  return nullptr;
}

}  // namespace shardlab
