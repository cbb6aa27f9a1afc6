#include "simulator/memory/caching_allocator/caching_allocator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "simulator/memory/caching_allocator/block_sizes.h"

namespace shardlab {

CachingAllocator::CachingAllocator(const AllocatorOptions& options, AllocatorDevice device)
    : options_(options),
      device_(std::move(device)),
      max_split_size_(options.max_split_size.value_or(Bytes{std::numeric_limits<std::int64_t>::max()})) {
  if (options.per_process_memory_fraction < 1)
    allowed_ = Bytes{static_cast<std::int64_t>(options.per_process_memory_fraction *
                                               static_cast<double>(device_.total.value))};
  if (options.max_split_size) statistics_.max_split_size = options.max_split_size->value;
}

std::uint32_t CachingAllocator::stream_index(AllocatorStream stream) {
  if (!streams_.empty() && streams_[0] == stream) return 0;
  const auto [found, added] =
      stream_indices_.try_emplace(stream.value, static_cast<std::uint32_t>(streams_.size()));
  if (added) {
    streams_.push_back(stream);
    small_pool_.streams.emplace_back();
    large_pool_.streams.emplace_back();
    events_.emplace_back();
  }
  return found->second;
}

AllocatorBlock* CachingAllocator::find(AllocationId allocation) {
  if (allocation.slot >= blocks_.size()) return nullptr;
  AllocatorBlock& block = blocks_[allocation.slot];
  return block.allocated && block.number == allocation.number ? &block : nullptr;
}

BlockIndex CachingAllocator::add_block(AllocatorBlock block) {
  const BlockIndex index = blocks_.add(std::move(block));
  if (blocks_[index].previous == k_no_block) segments_[blocks_[index].segment].first = index;
  return index;
}

void CachingAllocator::remove_block(BlockIndex index) {
  blocks_[index].allocated = false;
  blocks_.remove(index);
}

void CachingAllocator::insert_free(BlockIndex index) {
  AllocatorBlock& block = blocks_[index];
  block.free_since = pool(block.small).searches;
  free_blocks(block).mapped.insert({block.size, block.address, index});
}

void CachingAllocator::erase_free(BlockIndex index) {
  const AllocatorBlock& block = blocks_[index];
  if (block.mapped)
    free_blocks(block).mapped.erase({block.size, block.address});
  else
    free_blocks(block).unmapped.erase({{}, block.address});
}

Result<AllocationId> CachingAllocator::malloc(Bytes requested, AllocatorStream stream) {
  constexpr Bytes k_most = {std::int64_t{1} << 60U};  // torch asks no device for an exbibyte
  if (requested.value <= 0)
    return bad_input("malloc", fmt::format("{} bytes are no allocation", requested.value));
  if (requested >= k_most) return out_of_memory(requested);
  poll_events();
  const Bytes size = block_size(requested, options_);
  const Request request = {.asked = requested,
                           .size = size,
                           .segment = segment_size(size, options_),
                           .stream = stream_index(stream),
                           .small = size <= k_small_request};
  BlockIndex block = find_free(request);
  if (block == k_no_block) block = obtain(request);
  if (block == k_no_block) {
    ++statistics_.num_ooms;
    return out_of_memory(request.segment);
  }
  return take(block, request);
}

// Best fit: the smallest block of the stream that is large enough. Neither an oversize block for a request
// that is not, nor one that would waste too much.
BlockIndex CachingAllocator::find_free(const Request& request) {
  AllocatorPool& from = pool(request.small);
  if (allowed_ && options_.garbage_collection_threshold > 0) ++from.searches;
  FreeBlocks& free = from.streams[request.stream];
  const auto found = free.mapped.lower_bound({request.size, {}});
  if (found == free.mapped.end()) return k_no_block;
  const BlockIndex index = options_.expandable_segments ? best_expandable(free, found) : found->block;
  const Bytes size = blocks_[index].size;
  if (request.size < max_split_size_ ? size >= max_split_size_
                                     : size - request.size >= options_.max_non_split_rounding)
    return k_no_block;
  if (index == found->block)
    free.mapped.erase(found);  // without searching for it again
  else
    erase_free(index);
  return index;
}

// A new block of the lower end of another, which keeps the rest.
BlockIndex CachingAllocator::split_off(BlockIndex index, Bytes size) {
  AllocatorBlock lower;
  AllocatorBlock& rest = blocks_[index];
  lower.address = rest.address;
  lower.size = size;
  lower.previous = rest.previous;
  lower.next = index;
  lower.segment = rest.segment;
  lower.stream = rest.stream;
  lower.small = rest.small;
  rest.address = rest.address + size;
  rest.size -= size;
  const BlockIndex before = lower.previous;
  const BlockIndex added = add_block(std::move(lower));
  blocks_[index].previous = added;
  if (before != k_no_block) blocks_[before].next = added;
  return added;
}

AllocationId CachingAllocator::take(BlockIndex index, const Request& request) {
  const bool was_split = blocks_[index].split();
  const bool small = request.small;
  const bool counted = !segments_[blocks_[index].segment].expandable();
  const Bytes rest = blocks_[index].size - request.size;
  const bool to_split = small || options_.expandable_segments
                            ? rest >= k_smallest_block
                            : request.size < max_split_size_ && rest > k_small_request;
  AllocatorStatistics& s = statistics_;
  if (to_split) {
    const BlockIndex remaining = index;
    index = split_off(remaining, request.size);
    insert_free(remaining);
    if (counted && was_split) {
      s.inactive_split_bytes.decrease(small, request.size.value);
    } else if (counted) {
      s.inactive_split_bytes.increase(small, rest.value);
      s.inactive_split.increase(small, 1);
    }
  } else if (was_split && counted) {
    s.inactive_split_bytes.decrease(small, blocks_[index].size.value);
    s.inactive_split.decrease(small, 1);
  }
  AllocatorBlock& block = blocks_[index];
  block.allocated = true;
  block.requested = request.asked;
  block.number = ++allocations_;
  s.allocation.increase(small, 1);
  s.allocated_bytes.increase(small, block.size.value);
  s.active.increase(small, 1);
  s.active_bytes.increase(small, block.size.value);
  s.requested_bytes.increase(small, request.asked.value);
  if (block.size >= max_split_size_) s.oversize_allocations.increase(1);
  return {index, block.number};
}

Status CachingAllocator::free(AllocationId allocation) {
  AllocatorBlock* block = find(allocation);
  if (block == nullptr) return bad_input("free", "no such allocation, or it was freed before");
  block->allocated = false;
  statistics_.allocation.decrease(block->small, 1);
  statistics_.allocated_bytes.decrease(block->small, block->size.value);
  if (block->size >= max_split_size_) statistics_.oversize_allocations.decrease(1);
  if (block->uses.empty())
    free_block(allocation.slot);
  else
    record_events(allocation.slot);
  return {};
}

Status CachingAllocator::record_stream(AllocationId allocation, AllocatorStream stream) {
  if (find(allocation) == nullptr)
    return bad_input("record_stream", "no such allocation, or it was freed before");
  const std::uint32_t index = stream_index(stream);
  AllocatorBlock& block = blocks_[allocation.slot];
  if (index != block.stream && std::find(block.uses.begin(), block.uses.end(), index) == block.uses.end())
    block.uses.push_back(index);
  return {};
}

// The block returns to its pool, joined with its free neighbours.
void CachingAllocator::free_block(BlockIndex index) {
  const Bytes size = blocks_[index].size;
  const Bytes requested = blocks_[index].requested;
  const bool small = blocks_[index].small;
  std::int64_t more_blocks = 0;
  Bytes more_bytes;
  for (const BlockIndex neighbour : {blocks_[index].previous, blocks_[index].next}) {
    const Bytes joined = merge(index, neighbour);
    if (joined.value == 0) continue;
    --more_blocks;
    more_bytes -= joined;
  }
  insert_free(index);
  const AllocatorBlock& block = blocks_[index];
  if (block.split()) ++more_blocks, more_bytes += block.size;
  AllocatorStatistics& s = statistics_;
  if (!segments_[block.segment].expandable()) {
    if (more_blocks > 0) s.inactive_split.increase(small, more_blocks);
    if (more_blocks < 0) s.inactive_split.decrease(small, -more_blocks);
    if (more_bytes.value > 0) s.inactive_split_bytes.increase(small, more_bytes.value);
    if (more_bytes.value < 0) s.inactive_split_bytes.decrease(small, -more_bytes.value);
  }
  s.active.decrease(small, 1);
  s.active_bytes.decrease(small, size.value);
  s.requested_bytes.decrease(small, requested.value);
}

// Joins a neighbour to a block, when it is idle and has memory, or none, as the block has. Its size, or 0.
Bytes CachingAllocator::merge(BlockIndex into, BlockIndex other) {
  if (other == k_no_block || !blocks_[other].idle() || blocks_[other].mapped != blocks_[into].mapped)
    return {};
  erase_free(other);
  AllocatorBlock& block = blocks_[into];
  const AllocatorBlock& joined = blocks_[other];
  if (block.previous == other) {
    block.address = joined.address;
    block.previous = joined.previous;
    if (block.previous == k_no_block)
      segments_[block.segment].first = into;
    else
      blocks_[block.previous].next = into;
  } else {
    block.next = joined.next;
    if (block.next != k_no_block) blocks_[block.next].previous = into;
  }
  block.size += joined.size;
  const Bytes size = joined.size;
  remove_block(other);
  return size;
}

tl::unexpected<Error> CachingAllocator::out_of_memory(Bytes asked) const {
  return not_possible(
      "malloc", fmt::format("out of memory: {} wanted, {} of {} reserved, {} of them allocated",
                            to_string(asked), to_string(reserved_),
                            to_string(allowed_ ? std::min(*allowed_, device_.available) : device_.available),
                            to_string(Bytes{statistics_.allocated_bytes.all.current})));
}

}  // namespace shardlab
