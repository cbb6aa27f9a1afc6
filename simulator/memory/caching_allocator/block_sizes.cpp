#include "simulator/memory/caching_allocator/block_sizes.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace shardlab {
namespace {

constexpr Bytes k_own_segment = mebibytes(10);  // from here on a request has a segment of its own
constexpr Bytes k_segment_step = mebibytes(2);

Bytes rounded_up(Bytes size, Bytes step) {
  return step * ((size.value + step.value - 1) / step.value);
}

std::int64_t divisions_of(std::uint64_t size, const AllocatorOptions& options) {
  constexpr int k_first = 20;  // the first interval is that of 1 MiB
  const int last = static_cast<int>(options.roundup_divisions.size()) - 1;
  const int interval = std::clamp(static_cast<int>(std::bit_width(size)) - 1 - k_first, 0, last);
  return options.roundup_divisions[static_cast<std::size_t>(interval)];
}

}  // namespace

Bytes block_size(Bytes requested, const AllocatorOptions& options) {
  if (requested < k_smallest_block) return k_smallest_block;
  const auto size = static_cast<std::uint64_t>(requested.value);
  const std::int64_t divisions = divisions_of(size, options);
  if (divisions <= 1 || requested.value / k_smallest_block.value < divisions ||
      requested == k_smallest_block * divisions)
    return rounded_up(requested, k_smallest_block);
  if (std::has_single_bit(size)) return requested;
  const Bytes step = {static_cast<std::int64_t>(std::bit_floor(size)) / divisions};
  return rounded_up(requested, step);
}

Bytes segment_size(Bytes block, const AllocatorOptions& options) {
  if (block <= k_small_request) return k_small_segment;
  if (block < k_own_segment) return options.large_segment_size;
  return rounded_up(block, k_segment_step);
}

}  // namespace shardlab
