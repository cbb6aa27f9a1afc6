#include "simulator/memory/allocations/noted_allocator.h"

namespace shardlab {

Result<LiveBlock> NotedAllocator::malloc(Bytes bytes, AllocatorStream stream) {
  note({MadeCall::Kind::malloc, blocks_, bytes, stream, 0});
  const std::uint64_t block = blocks_++;
  SHARDLAB_TRY(const AllocationId allocation, allocator_.malloc(bytes, stream));
  return LiveBlock{allocation, block};
}

void NotedAllocator::free(const LiveBlock& live) {
  note({MadeCall::Kind::free, live.block, {}, {}, 0});
  (void)allocator_.free(live.allocation);
}

void NotedAllocator::record_stream(const LiveBlock& live, AllocatorStream stream) {
  note({MadeCall::Kind::record_stream, live.block, {}, stream, 0});
  (void)allocator_.record_stream(live.allocation, stream);
}

void NotedAllocator::empty_cache() {
  note({MadeCall::Kind::empty_cache, 0, {}, {}, 0});
  allocator_.empty_cache();
}

void NotedAllocator::complete_events(AllocatorStream stream, std::int64_t count) {
  std::int64_t& done = done_[stream.value];
  if (count <= done) return;
  note({MadeCall::Kind::complete_events, 0, {}, stream, count - done});
  done = count;
  allocator_.complete_events(stream, count);
}

}  // namespace shardlab
