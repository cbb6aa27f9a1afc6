// Memory from the driver, and back to it.
#include "simulator/memory/caching_allocator/caching_allocator.h"

#include <algorithm>
#include <utility>

namespace shardlab {

DeviceAddress CachingAllocator::place(Bytes size) {
  if (device_.place) return device_.place(size);
  const DeviceAddress here = next_place_;
  next_place_ = next_place_ + size;
  return here;
}

// Asks the driver; after a refusal releases oversize blocks and asks again; then everything cached, and asks
// a last time.
BlockIndex CachingAllocator::obtain(const Request& request) {
  if (allowed_ && options_.garbage_collection_threshold > 0) collect_garbage();
  BlockIndex block = new_segment(request);
  if (block == k_no_block && release_oversize(request)) block = new_segment(request);
  if (block != k_no_block) return block;
  release_cached();
  ++statistics_.num_alloc_retries;
  return new_segment(request);
}

BlockIndex CachingAllocator::new_segment(const Request& request) {
  if (allowed_ && request.segment > *allowed_ - reserved_) return k_no_block;
  if (options_.expandable_segments) return expand(request);
  if (request.segment > device_.available - reserved_) return k_no_block;
  AllocatorBlock block;
  block.address = place(request.segment);
  block.size = request.segment;
  block.stream = request.stream;
  block.small = request.small;
  block.segment = segments_.add({.address = block.address, .size = block.size, .page = {}});
  reserved_ += request.segment;
  statistics_.segment.increase(request.small, 1);
  statistics_.reserved_bytes.increase(request.small, request.segment.value);
  if (request.segment >= max_split_size_) statistics_.oversize_segments.increase(1);
  ++statistics_.num_device_alloc;
  return add_block(std::move(block));
}

void CachingAllocator::release_segment(BlockIndex index) {
  const AllocatorBlock& block = blocks_[index];
  reserved_ -= block.size;
  statistics_.segment.decrease(block.small, 1);
  statistics_.reserved_bytes.decrease(block.small, block.size.value);
  if (block.size >= max_split_size_) statistics_.oversize_segments.decrease(1);
  ++statistics_.num_device_free;
  erase_free(index);
  segments_[block.segment].first = k_no_block;
  segments_.remove(block.segment);
  remove_block(index);
}

// With a limit of splitting: the smallest free oversize block that would do, or the largest ones until
// together they would.
bool CachingAllocator::release_oversize(const Request& request) {
  if (!options_.max_split_size || options_.expandable_segments) return false;
  const Bytes wanted = std::max(request.size, max_split_size_);
  FreeList& free = pool(request.small).streams[request.stream].mapped;
  if (const auto found = free.lower_bound({wanted, {}}); found != free.end()) {
    release_segment(found->block);
    return true;
  }
  Bytes released;
  while (released < wanted && !free.empty() && free.largest().size >= max_split_size_) {
    const FreeKey largest = free.largest();
    released += largest.size;
    release_segment(largest.block);
  }
  return released >= wanted;
}

// Above the threshold: releases large segments that are wholly free and have not been asked for during more
// searches than the average one, until enough are released or none is old enough.
void CachingAllocator::collect_garbage() {
  const Bytes threshold = {static_cast<std::int64_t>(options_.garbage_collection_threshold *
                                                     static_cast<double>(allowed_->value))};
  if (reserved_ <= threshold) return;
  const Bytes target = reserved_ - threshold;
  const auto age = [&](BlockIndex index) { return large_pool_.searches - blocks_[index].free_since; };
  std::vector<BlockIndex> whole;
  std::int64_t ages = 0;
  for (const FreeBlocks& stream : large_pool_.streams)
    for (const FreeKey& key : stream.mapped)
      if (!blocks_[key.block].split()) whole.push_back(key.block), ages += age(key.block);
  Bytes released;
  bool any = true;
  while (released < target && any && !whole.empty()) {
    const double average = static_cast<double>(ages) / static_cast<double>(whole.size());
    any = false;
    std::vector<BlockIndex> kept;
    for (const BlockIndex index : whole) {
      if (segments_[blocks_[index].segment].expandable() || static_cast<double>(age(index)) < average) {
        kept.push_back(index);
        continue;
      }
      any = true;
      released += blocks_[index].size;
      ages -= age(index);
      release_segment(index);
    }
    whole = std::move(kept);
  }
}

void CachingAllocator::empty_cache() {
  release_cached();
}

void CachingAllocator::release_cached() {
  wait_for_events();
  release_pool(/*small=*/false);
  release_pool(/*small=*/true);
}

void CachingAllocator::release_pool(bool small) {
  std::vector<BlockIndex> whole, ranges;
  for (const FreeBlocks& stream : pool(small).streams)
    for (const FreeKey& key : stream.mapped) {
      const AllocatorBlock& block = blocks_[key.block];
      if (segments_[block.segment].expandable())
        ranges.push_back(key.block);
      else if (!block.split())
        whole.push_back(key.block);
    }
  for (const BlockIndex index : whole) release_segment(index);
  for (const BlockIndex index : ranges) unmap(index);
}

std::vector<SegmentSnapshot> CachingAllocator::snapshot() const {
  std::vector<SegmentSnapshot> result;
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    bool open = false;  // whether the last segment of the result goes on
    for (BlockIndex b = segments_[i].first; b != k_no_block; b = blocks_[b].next) {
      const AllocatorBlock& block = blocks_[b];
      if (block.mapped && !open)
        result.push_back(
            {block.address, {}, streams_[block.stream], block.small, segments_[i].expandable(), {}});
      open = block.mapped;
      if (!open) continue;
      SegmentSnapshot& segment = result.back();
      const BlockState state = block.allocated ? BlockState::allocated
                               : block.idle()  ? BlockState::free
                                               : BlockState::pending;
      segment.blocks.push_back({segment.size, block.size, block.requested, state});
      segment.size += block.size;
    }
  }
  std::sort(result.begin(), result.end(),
            [](const SegmentSnapshot& a, const SegmentSnapshot& b) { return a.address < b.address; });
  return result;
}

}  // namespace shardlab
