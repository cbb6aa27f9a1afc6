// The attributes that operators have. Which of them a type requires, which it may have and what they mean is
// said where the type is described.
#pragma once

#include <cstdint>

#include "engine/base/dtype.h"
#include "engine/model/attributes.h"
#include "engine/model/choices.h"

namespace shardlab {

// How q, k and v lie in the rows that attention reads.
enum class Packing : std::uint8_t {
  separate,  // three inputs
  sections,  // one input: heads of q, then of k, then of v
  groups,    // one input: for each key-value head its query heads, its k, its v
};

namespace attribute {

// Heads: attention, rotary embedding.
inline constexpr Attribute<std::int64_t> k_heads{"heads"};
inline constexpr Attribute<std::int64_t> k_kv_heads{"kv_heads"};
inline constexpr Attribute<std::int64_t> k_head_dim{"head_dim"};
inline constexpr Attribute<Packing> k_packed{"packed"};
inline constexpr Attribute<std::int64_t> k_window{"window"};
inline constexpr Attribute<double> k_soft_cap{"soft_cap"};
// Where attention is computed step by step: softmax in the dtype of its scores, not in float32.
inline constexpr Attribute<bool> k_narrow_softmax{"narrow_softmax"};
inline constexpr Attribute<std::int64_t> k_turned{"turned"};
inline constexpr Attribute<std::int64_t> k_passed{"passed"};

// Products, embeddings, attention: a factor.
inline constexpr Attribute<double> k_scale{"scale"};
// The dtype in which the parameters are stored, where torch.autocast casts them for the operator.
inline constexpr Attribute<DType> k_parameter_dtype{"parameter_dtype"};
inline constexpr Attribute<bool> k_transposed{"transposed"};
// How a linear layer scales its operands, where its products are in float8.
inline constexpr Attribute<Fp8Scaling> k_float8{"float8"};
// How its weight is stored, where the product is with a copy of it that is made anew each time.
inline constexpr Attribute<Quantization> k_quantized{"quantized"};
// Whether an adapter copies what its layer made.
inline constexpr Attribute<bool> k_cloned{"cloned"};
// Share of elements that are dropped at random: of an input, or of attention's probabilities.
inline constexpr Attribute<double> k_dropout{"dropout"};
inline constexpr Attribute<std::int64_t> k_padding{"padding"};

// Norms and activations.
inline constexpr Attribute<double> k_epsilon{"epsilon"};
inline constexpr Attribute<double> k_offset{"offset"};
inline constexpr Attribute<bool> k_low_precision{"low_precision"};  // in autocast's dtype, not in float32
inline constexpr Attribute<bool> k_tanh{"tanh"};
inline constexpr Attribute<double> k_cap{"cap"};

// Whether a compiler makes it, and what is around it, one kernel (model/compiled.h).
inline constexpr Attribute<bool> k_compiled{"compiled"};

// Experts and their routers.
inline constexpr Attribute<bool> k_normalized{"normalized"};
inline constexpr Attribute<std::int64_t> k_per_token{"per_token"};
inline constexpr Attribute<std::int64_t> k_assumed_groups{"assumed_groups", true};
inline constexpr Attribute<std::int64_t> k_assumed_shares{"assumed_shares", true};
inline constexpr Attribute<std::int64_t> k_rows{"rows"};

// Losses.
inline constexpr Attribute<bool> k_as_logits{"as_logits"};  // in the dtype of its logits, not in float32
inline constexpr Attribute<bool> k_copies_logits{"copies_logits"};  // without the last position of a sequence
inline constexpr Attribute<double> k_weight{"weight"};
inline constexpr Attribute<double> k_temperature{"temperature"};
inline constexpr Attribute<std::int64_t> k_chunks{"chunks"};

}  // namespace attribute
}  // namespace shardlab
