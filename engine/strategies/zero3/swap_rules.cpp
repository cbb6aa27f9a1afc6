#include "engine/strategies/zero3/swap_rules.h"

#include <algorithm>
#include <numeric>

namespace shardlab {
namespace {

constexpr std::int64_t k_least_bytes = 1 << 20;    // MIN_AIO_BYTES
constexpr std::int64_t k_aligned_bytes = 1 << 10;  // AIO_ALIGNED_BYTES
constexpr std::int64_t k_page = 1 << 12;
constexpr std::size_t k_buffers = 4;  // DeepSpeedZeroOffloadOptimizerConfig.buffer_count

}  // namespace

SwapRules::SwapRules(const OffloadSpec& offload)
    : least_bytes(std::max(k_least_bytes, offload.aio.block_size.value)),
      alignment(k_aligned_bytes * offload.aio.threads / 4),
      page(std::lcm(k_aligned_bytes * offload.aio.threads, k_page) / 4),
      reads_ahead(offload.pipeline_read),
      writes_behind(offload.pipeline_write) {}

std::int64_t SwapRules::in_pages(std::int64_t elements) const {
  return (elements + page - 1) / page * page;
}

std::int64_t elements_of_group(const SubGroups& groups, std::size_t group) {
  return groups.part(group, {}, BufferClass::parameter_shard, DType::float32).elements;
}

std::int64_t largest_buffer(const SubGroups& groups, const SwapRules& rules) {
  std::int64_t most = 0;
  for (std::size_t group = 0; group < groups.count(); ++group)
    most = std::max(most, elements_of_group(groups, group));
  return rules.in_pages(most);
}

std::size_t staging_buffers(const OffloadSpec& offload) {
  return offload.buffers == 0 ? k_buffers : static_cast<std::size_t>(offload.buffers);
}

std::size_t least_staging_buffers(const SwapRules& rules, std::size_t states, std::size_t swapped) {
  const std::size_t at_once = 1 + (rules.reads_ahead ? 1U : 0U) + (rules.writes_behind ? 1U : 0U);
  return (states + 2) * std::min(at_once, swapped);
}

}  // namespace shardlab
