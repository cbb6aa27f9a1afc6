// All operators, one line each, sorted by name: from here come their descriptions (engine/model/operators),
// their implementations (engine/execute/torch/operators) and those for devices (operators/aten below it).
//
// A line says the name and what devices run: `own`, an implementation of their own, or `same`, the
// processor's, where that is made of ATen's operators alone. To add an operator: define k_<name> in this
// folder, k_<name>_implementation (and k_device_<name> if it is `own`) there, and add its line.
#pragma once

#include "engine/model/operators/operator_type.h"

#define SHARDLAB_OPERATORS(OPERATOR)      \
  OPERATOR(add, same)                     \
  OPERATOR(add_positions, own)            \
  OPERATOR(attention, own)                \
  OPERATOR(cast, same)                    \
  OPERATOR(chunked_distillation, own)     \
  OPERATOR(combine, own)                  \
  OPERATOR(compiled_cross_entropy, own)   \
  OPERATOR(cross_entropy, own)            \
  OPERATOR(dispatch, own)                 \
  OPERATOR(distillation_loss, own)        \
  OPERATOR(dropout, same)                 \
  OPERATOR(eager_attention, same)         \
  OPERATOR(eager_capped_attention, same)  \
  OPERATOR(eager_copied_attention, own)   \
  OPERATOR(eager_cross_entropy, same)     \
  OPERATOR(eager_distillation_loss, same) \
  OPERATOR(eager_gelu_new, same)          \
  OPERATOR(eager_linear_add, same)        \
  OPERATOR(eager_masked_attention, own)   \
  OPERATOR(eager_math_attention, same)    \
  OPERATOR(eager_packed_rope, same)       \
  OPERATOR(eager_rms_norm, same)          \
  OPERATOR(eager_rope, same)              \
  OPERATOR(eager_soft_cap, same)          \
  OPERATOR(eager_stepped_attention, same) \
  OPERATOR(eager_windowed_attention, own) \
  OPERATOR(embedding, own)                \
  OPERATOR(geglu, own)                    \
  OPERATOR(gelu, own)                     \
  OPERATOR(grouped_linear, own)           \
  OPERATOR(layer_norm, own)               \
  OPERATOR(linear, own)                   \
  OPERATOR(linear_add, same)              \
  OPERATOR(multiply, same)                \
  OPERATOR(rms_norm, own)                 \
  OPERATOR(rope, own)                     \
  OPERATOR(router_loss, own)              \
  OPERATOR(router_sums, own)              \
  OPERATOR(silu, same)                    \
  OPERATOR(soft_cap, own)                 \
  OPERATOR(swiglu, own)                   \
  OPERATOR(token_chunked_loss, own)       \
  OPERATOR(top_k, own)                    \
  OPERATOR(unfused_attention, same)       \
  OPERATOR(vocabulary_chunked_loss, own)

namespace shardlab {

#define SHARDLAB_DECLARE_TYPE(name, device) extern const OperatorType k_##name;
SHARDLAB_OPERATORS(SHARDLAB_DECLARE_TYPE)
#undef SHARDLAB_DECLARE_TYPE

}  // namespace shardlab
