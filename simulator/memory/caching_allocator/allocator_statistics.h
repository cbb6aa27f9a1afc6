// The statistics of torch's CUDA caching allocator, by torch's own names (torch.cuda.memory_stats;
// DeviceStats of torch 2.11's c10/core/CachingDeviceAllocator.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace shardlab {

struct AllocatorStat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  // the sum of all increases
  std::int64_t freed = 0;      // the sum of all decreases

  void increase(std::int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
    allocated += amount;
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  friend bool operator==(const AllocatorStat&, const AllocatorStat&) = default;
};

// One statistic of all memory, and of each of the two pools.
struct PoolStats {
  AllocatorStat all, small_pool, large_pool;

  void increase(bool small, std::int64_t amount) {
    all.increase(amount);
    (small ? small_pool : large_pool).increase(amount);
  }
  void decrease(bool small, std::int64_t amount) {
    all.decrease(amount);
    (small ? small_pool : large_pool).decrease(amount);
  }
  friend bool operator==(const PoolStats&, const PoolStats&) = default;
};

struct AllocatorStatistics {
  PoolStats allocation;  // live allocations
  PoolStats segment;     // segments of cudaMalloc (expandable ones are not counted)
  PoolStats active;      // blocks that are allocated, or freed and waiting for other streams
  PoolStats
      inactive_split;  // free blocks of segments that are in use otherwise (expandable ones not counted)
  PoolStats allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes;
  PoolStats requested_bytes;                              // of active blocks, as the caller asked
  AllocatorStat oversize_allocations, oversize_segments;  // of max_split_size and above
  std::int64_t num_alloc_retries = 0;     // everything cached was released, and the device asked again
  std::int64_t num_ooms = 0;              // allocations that failed
  std::int64_t num_sync_all_streams = 0;  // waits for all pending events
  std::int64_t num_device_alloc = 0;      // cudaMalloc, or ranges mapped
  std::int64_t num_device_free = 0;       // cudaFree, or ranges unmapped
  std::int64_t max_split_size = -1;       // bytes; -1 is no limit

  friend bool operator==(const AllocatorStatistics&, const AllocatorStatistics&) = default;
};

// One row a statistic of the two kinds that have more than a number.
template <typename Visit>
void for_each_pool_stat(const AllocatorStatistics& s, Visit visit) {
  visit("allocation", s.allocation);
  visit("segment", s.segment);
  visit("active", s.active);
  visit("inactive_split", s.inactive_split);
  visit("allocated_bytes", s.allocated_bytes);
  visit("reserved_bytes", s.reserved_bytes);
  visit("active_bytes", s.active_bytes);
  visit("inactive_split_bytes", s.inactive_split_bytes);
  visit("requested_bytes", s.requested_bytes);
}
template <typename Visit>
void for_each_oversize_stat(const AllocatorStatistics& s, Visit visit) {
  visit("oversize_allocations", s.oversize_allocations);
  visit("oversize_segments", s.oversize_segments);
}
template <typename Visit>
void for_each_count(const AllocatorStatistics& s, Visit visit) {
  visit("num_alloc_retries", s.num_alloc_retries);
  visit("num_ooms", s.num_ooms);
  visit("num_sync_all_streams", s.num_sync_all_streams);
  visit("num_device_alloc", s.num_device_alloc);
  visit("num_device_free", s.num_device_free);
  visit("max_split_size", s.max_split_size);
}

}  // namespace shardlab
