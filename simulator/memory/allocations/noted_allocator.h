// The model of the allocator, with a note of the calls made. Private to this folder.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "simulator/memory/allocations/allocator_run.h"
#include "simulator/memory/caching_allocator/caching_allocator.h"

namespace shardlab {

struct LiveBlock {
  AllocationId allocation;
  std::uint64_t block = 0;  // its number in the notes
};

class NotedAllocator {
 public:
  NotedAllocator(const AllocatorOptions& options, AllocatorDevice device, std::vector<MadeCall>* notes)
      : allocator_(options, std::move(device)), notes_(notes) {}

  // not_possible when the device has no more memory.
  Result<LiveBlock> malloc(Bytes bytes, AllocatorStream stream);
  void free(const LiveBlock& live);
  void record_stream(const LiveBlock& live, AllocatorStream stream);
  void empty_cache();
  // The first `count` events that frees left on the stream are done.
  void complete_events(AllocatorStream stream, std::int64_t count);

  void limit(Bytes available) { allocator_.limit(available); }
  std::int64_t events_recorded(AllocatorStream stream) const { return allocator_.events_recorded(stream); }
  const AllocatorStatistics& statistics() const { return allocator_.statistics(); }
  Bytes reserved() const { return allocator_.reserved(); }
  std::vector<SegmentSnapshot> snapshot() const { return allocator_.snapshot(); }
  DeviceAddress address_of(const LiveBlock& live) const { return allocator_.address_of(live.allocation); }

 private:
  void note(const MadeCall& call) {
    if (notes_ != nullptr) notes_->push_back(call);
  }

  CachingAllocator allocator_;
  std::vector<MadeCall>* notes_;
  std::uint64_t blocks_ = 0;
  std::map<std::int64_t, std::int64_t> done_;  // by stream
};

}  // namespace shardlab
