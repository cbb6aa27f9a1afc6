// A model of PyTorch 2.11's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp, backend `native`): the
// same calls give the same statistics and the same places of all blocks, operation by operation
// (tests/peers/caching_allocator runs both).
//
// It knows neither plans nor torch, nor any time: what has finished on a stream, its user says. Each free()
// of a block that other streams were recorded on leaves one event on each of those streams; the block stays
// active until they are done, and torch looks at the next malloc(). An event ends when complete_events() says
// so, or when the allocator waits for all of them before it gives memory back to the driver.
//
// Not modelled: graph capture and private pools, several threads, callbacks that free memory.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "simulator/memory/caching_allocator/allocator_blocks.h"
#include "simulator/memory/caching_allocator/allocator_options.h"
#include "simulator/memory/caching_allocator/allocator_statistics.h"
#include "simulator/memory/caching_allocator/allocator_types.h"
#include "simulator/memory/caching_allocator/stream_poll_order.h"

namespace shardlab {

enum class BlockState : std::uint8_t {
  allocated,  // with the caller
  pending,    // freed, and waiting for another stream
  free,
};

struct BlockSnapshot {
  Bytes offset;  // in its segment
  Bytes size;
  Bytes requested;  // what the last caller asked for
  BlockState state = BlockState::free;
  friend bool operator==(const BlockSnapshot&, const BlockSnapshot&) = default;
};

// A segment of the driver; of an expandable one each range that has memory.
struct SegmentSnapshot {
  DeviceAddress address;
  Bytes size;
  AllocatorStream stream;
  bool small = false, expandable = false;
  std::vector<BlockSnapshot> blocks;  // from the lowest on, without gaps
  friend bool operator==(const SegmentSnapshot&, const SegmentSnapshot&) = default;
};

class CachingAllocator {
 public:
  CachingAllocator(const AllocatorOptions& options, AllocatorDevice device);

  // A block for so many bytes (more than none) on the stream. When the device has no more, even after
  // everything cached was released, the error says so and the allocator goes on as torch's does.
  Result<AllocationId> malloc(Bytes requested, AllocatorStream stream = {});

  // Gives a block back. bad_input: no such allocation.
  Status free(AllocationId allocation);

  // The allocation is used on this stream as well. Its own stream is ignored.
  Status record_stream(AllocationId allocation, AllocatorStream stream);

  // How many events free() has left on the stream so far.
  std::int64_t events_recorded(AllocatorStream stream) const;

  // The first `count` of them, and no more, are done. A smaller count than before changes nothing.
  void complete_events(AllocatorStream stream, std::int64_t count);

  // Looks at all events, as every malloc() does first.
  void poll_events();

  // Waits for all events and gives all memory that is wholly free back to the driver.
  void empty_cache();

  const AllocatorStatistics& statistics() const { return statistics_; }
  Bytes reserved() const { return reserved_; }

  // From now on the driver can give so much, at least what is reserved.
  void limit(Bytes available) { device_.available = available; }

  // From the lowest address on.
  std::vector<SegmentSnapshot> snapshot() const;

  // Where an allocation begins, while it is live.
  DeviceAddress address_of(AllocationId allocation) const { return blocks_[allocation.slot].address; }

 private:
  struct Request {
    Bytes asked;
    Bytes size;     // of the block
    Bytes segment;  // of the segment to ask the driver for
    std::uint32_t stream = 0;
    bool small = false;
  };
  struct EventQueue {
    std::deque<BlockIndex> blocks;  // of the events that were not seen to be done
    std::int64_t recorded = 0, done = 0;
  };

  // caching_allocator.cpp
  std::uint32_t stream_index(AllocatorStream stream);
  AllocatorPool& pool(bool small) { return small ? small_pool_ : large_pool_; }
  FreeBlocks& free_blocks(const AllocatorBlock& block) { return pool(block.small).streams[block.stream]; }
  AllocatorBlock* find(AllocationId allocation);
  BlockIndex add_block(AllocatorBlock block);
  void remove_block(BlockIndex index);
  void insert_free(BlockIndex index);
  void erase_free(BlockIndex index);
  BlockIndex find_free(const Request& request);
  BlockIndex split_off(BlockIndex index, Bytes size);
  AllocationId take(BlockIndex index, const Request& request);
  void free_block(BlockIndex index);
  Bytes merge(BlockIndex into, BlockIndex other);
  tl::unexpected<Error> out_of_memory(Bytes asked) const;

  // allocator_events.cpp
  void record_events(BlockIndex index);
  void event_done(BlockIndex index);
  void wait_for_events();

  // allocator_segments.cpp: memory from the driver and back
  DeviceAddress place(Bytes size);
  BlockIndex obtain(const Request& request);
  BlockIndex new_segment(const Request& request);
  bool release_oversize(const Request& request);
  void collect_garbage();
  void release_segment(BlockIndex index);
  void release_cached();
  void release_pool(bool small);

  // allocator_expandable.cpp
  BlockIndex expand(const Request& request);
  BlockIndex find_expandable(const Request& request);
  BlockIndex new_range(const Request& request);
  bool map(BlockIndex index, Bytes size);
  void unmap(BlockIndex index);
  BlockIndex cut(BlockIndex index, Bytes size);
  void release_range(BlockIndex index);
  Bytes expandable_size(BlockIndex index) const;
  BlockIndex best_expandable(const FreeBlocks& free, FreeList::Iterator from) const;

  AllocatorOptions options_;
  AllocatorDevice device_;
  std::optional<Bytes> allowed_;  // by per_process_memory_fraction
  Bytes max_split_size_;          // the largest number where there is no limit, as in torch
  Bytes reserved_;
  std::uint64_t allocations_ = 0;  // ever made
  DeviceAddress next_place_ = {std::uint64_t{1} << 32U};
  AllocatorStatistics statistics_;
  Slab<AllocatorBlock> blocks_;
  Slab<AllocatorSegment> segments_;
  AllocatorPool small_pool_, large_pool_;
  std::vector<AllocatorStream> streams_;
  std::unordered_map<std::int64_t, std::uint32_t> stream_indices_;
  std::vector<EventQueue> events_;  // by stream
  StreamPollOrder poll_order_;
  std::vector<std::uint32_t> polled_;  // kept from poll to poll for its memory
};

}  // namespace shardlab
