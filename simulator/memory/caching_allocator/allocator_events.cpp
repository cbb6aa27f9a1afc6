// Blocks that other streams use after they were freed.
#include "simulator/memory/caching_allocator/caching_allocator.h"

#include <algorithm>

namespace shardlab {

std::int64_t CachingAllocator::events_recorded(AllocatorStream stream) const {
  const auto found = stream_indices_.find(stream.value);
  return found == stream_indices_.end() ? 0 : events_[found->second].recorded;
}

void CachingAllocator::complete_events(AllocatorStream stream, std::int64_t count) {
  const auto found = stream_indices_.find(stream.value);
  if (found == stream_indices_.end()) return;
  EventQueue& queue = events_[found->second];
  queue.done = std::max(queue.done, std::min(count, queue.recorded));
}

void CachingAllocator::record_events(BlockIndex index) {
  AllocatorBlock& block = blocks_[index];
  for (const std::uint32_t stream : block.uses) {
    ++block.pending_events;
    events_[stream].blocks.push_back(index);
    ++events_[stream].recorded;
    poll_order_.insert(stream, streams_[stream], device_.index);
  }
  block.uses.clear();
}

void CachingAllocator::event_done(BlockIndex index) {
  if (--blocks_[index].pending_events == 0) free_block(index);
}

// Takes the events of each stream up to the first that is not done.
void CachingAllocator::poll_events() {
  if (poll_order_.empty()) return;
  poll_order_.list(polled_);
  for (const std::uint32_t stream : polled_) {
    EventQueue& queue = events_[stream];
    while (!queue.blocks.empty() &&
           queue.recorded - static_cast<std::int64_t>(queue.blocks.size()) < queue.done) {
      event_done(queue.blocks.front());
      queue.blocks.pop_front();
    }
    if (queue.blocks.empty()) poll_order_.erase(stream);
  }
}

void CachingAllocator::wait_for_events() {
  ++statistics_.num_sync_all_streams;
  poll_order_.list(polled_);
  for (const std::uint32_t stream : polled_) {
    EventQueue& queue = events_[stream];
    queue.done = queue.recorded;
    for (const BlockIndex block : queue.blocks) event_done(block);
    queue.blocks.clear();
    poll_order_.erase(stream);
  }
}

}  // namespace shardlab
