// Shapes of tensors, outermost dimension first.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/limits/saturated.h"

namespace shardlab {

using Shape = std::vector<std::int64_t>;

constexpr std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = saturated_product(count, extent);
  return count;
}

}  // namespace shardlab
