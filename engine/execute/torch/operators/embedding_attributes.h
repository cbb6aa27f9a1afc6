// Attributes of embedding, as its implementations read them. Private to the operators.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// What rows are multiplied with, rounded to the table's dtype as transformers does; 1 when nothing is said.
inline float embedding_scale(const Operator& op, at::ScalarType dtype) {
  const double scale = op.attributes.get_or(attribute::k_scale, 0);
  if (scale == 0) return 1;
  switch (dtype) {
    case at::kBFloat16: return static_cast<float>(c10::BFloat16(static_cast<float>(scale)));
    case at::kHalf: return static_cast<float>(c10::Half(static_cast<float>(scale)));
    default: return static_cast<float>(scale);
  }
}

// The token whose row receives no gradient; none when negative.
inline std::int64_t embedding_padding(const Operator& op) {
  return op.attributes.get_or(attribute::k_padding, -1);
}

}  // namespace shardlab
