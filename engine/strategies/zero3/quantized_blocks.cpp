#include "engine/strategies/zero3/quantized_blocks.h"

#include <algorithm>

namespace shardlab {
namespace {

constexpr std::int64_t k_most_in_block = 8000;  // target_group_size

// The smallest divisor that is not below `least`, which is at most `value`.
std::int64_t divisor_from(std::int64_t value, std::int64_t least) {
  std::int64_t best = value;
  for (std::int64_t low = 1; low * low <= value; ++low) {
    if (value % low != 0) continue;
    for (const std::int64_t divisor : {low, value / low}) {
      if (divisor >= least) best = std::min(best, divisor);
    }
  }
  return best;
}

}  // namespace

std::int64_t weight_blocks(std::int64_t elements) {
  return divisor_from(elements / k_weights_at_once, (elements + k_most_in_block - 1) / k_most_in_block);
}

bool quantizes_gradient(const Shape& shape, int ranks) {
  return shape.size() > 1 && element_count(shape) % (std::int64_t{2} * ranks) == 0;
}

std::int64_t gradient_blocks(const Shape& shape, int ranks) {
  return std::max({shape[0], shape[1], std::int64_t{ranks}});
}

}  // namespace shardlab
