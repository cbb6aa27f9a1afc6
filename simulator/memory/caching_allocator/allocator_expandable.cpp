// Expandable segments: one range of addresses a stream and pool, larger than the device, into which memory is
// mapped page by page where it is needed.
#include "simulator/memory/caching_allocator/caching_allocator.h"

#include <algorithm>

#include "simulator/memory/caching_allocator/block_sizes.h"

namespace shardlab {
namespace {

std::int64_t pages_up(Bytes size, Bytes page) {
  return (size.value + page.value - 1) / page.value;
}

}  // namespace

// What the block can grow to.
Bytes CachingAllocator::expandable_size(BlockIndex index) const {
  const AllocatorBlock& block = blocks_[index];
  const bool grows = block.next != k_no_block && !blocks_[block.next].mapped;
  return grows ? block.size + blocks_[block.next].size : block.size;
}

// Best fit by what a block can grow to, as far as torch looks: while the next larger one can grow to less.
BlockIndex CachingAllocator::best_expandable(const FreeBlocks& free, FreeList::Iterator from) const {
  auto next = from;
  while (++next != free.mapped.end() && expandable_size(next->block) < expandable_size(from->block))
    from = next;
  return from->block;
}

BlockIndex CachingAllocator::expand(const Request& request) {
  BlockIndex candidate = find_expandable(request);
  if (!blocks_[candidate].mapped && !map(candidate, std::min(blocks_[candidate].size, request.size)))
    return k_no_block;
  while (blocks_[candidate].size < request.size) {  // idle, followed by addresses without memory
    const BlockIndex next = blocks_[candidate].next;
    const Bytes missing = request.size - blocks_[candidate].size;
    if (!map(next, std::min(missing, blocks_[next].size))) return k_no_block;
    candidate = next;  // which has joined the one before it
  }
  erase_free(candidate);
  return candidate;
}

// The lowest addresses of the stream's ranges that can hold the block, with the idle block before them.
BlockIndex CachingAllocator::find_expandable(const Request& request) {
  const FreeBlocks& free = pool(request.small).streams[request.stream];
  for (const FreeKey& key : free.unmapped) {
    BlockIndex start = key.block;
    if (const BlockIndex before = blocks_[start].previous; before != k_no_block && blocks_[before].idle())
      start = before;
    Bytes room;
    for (BlockIndex b = start; room < request.size && b != k_no_block && blocks_[b].idle();
         b = blocks_[b].next)
      room += blocks_[b].size;
    if (room >= request.size) return start;
  }
  return new_range(request);
}

// A range of nine eighths of the device's memory: room to go on behind pages that were unmapped. Where memory
// has no limit a request can be larger.
BlockIndex CachingAllocator::new_range(const Request& request) {
  const Bytes page = request.small ? k_small_segment : options_.large_segment_size;
  const Bytes size = page * pages_up(std::max(device_.total + device_.total / 8, request.size), page);
  AllocatorBlock block;
  block.address = place(size);
  block.size = size;
  block.stream = request.stream;
  block.small = request.small;
  block.mapped = false;
  block.segment = segments_.add({.address = block.address, .size = size, .page = page});
  const BlockIndex index = add_block(std::move(block));
  free_blocks(blocks_[index]).unmapped.insert({{}, blocks_[index].address, index});
  return index;
}

// The upper part of an idle block, from `size` on, becomes a block of its own, in no pool yet.
BlockIndex CachingAllocator::cut(BlockIndex index, Bytes size) {
  AllocatorBlock upper;
  const AllocatorBlock& lower = blocks_[index];
  upper.address = lower.address + size;
  upper.size = lower.size - size;
  upper.previous = index;
  upper.next = lower.next;
  upper.segment = lower.segment;
  upper.stream = lower.stream;
  upper.small = lower.small;
  upper.mapped = lower.mapped;
  const BlockIndex after = upper.next;
  const BlockIndex added = add_block(std::move(upper));
  blocks_[index].size = size;
  blocks_[index].next = added;
  if (after != k_no_block) blocks_[after].previous = added;
  return added;
}

// Gives memory to the lower end of addresses that have none, in whole pages. False: the device has no more.
bool CachingAllocator::map(BlockIndex index, Bytes size) {
  const Bytes page = segments_[blocks_[index].segment].page;
  const Bytes mapped = page * pages_up(size, page);
  if (mapped > device_.available - reserved_) return false;
  erase_free(index);
  if (mapped < blocks_[index].size) {
    const BlockIndex rest = cut(index, mapped);
    free_blocks(blocks_[rest]).unmapped.insert({{}, blocks_[rest].address, rest});
  }
  blocks_[index].mapped = true;
  merge(index, blocks_[index].previous);
  merge(index, blocks_[index].next);
  insert_free(index);
  reserved_ += mapped;
  statistics_.reserved_bytes.increase(blocks_[index].small, mapped.value);
  ++statistics_.num_device_alloc;
  return true;
}

// Takes the memory of all pages that lie wholly within a free block.
void CachingAllocator::unmap(BlockIndex index) {
  const AllocatorSegment& segment = segments_[blocks_[index].segment];
  const Bytes page = segment.page;
  const Bytes offset = blocks_[index].address - segment.address;
  const Bytes begin = page * pages_up(offset, page);
  const Bytes end = page * ((offset + blocks_[index].size) / page.value).value;
  if (begin >= end) return;
  erase_free(index);
  const Bytes before = begin - offset;
  if (before.value > 0) {
    const BlockIndex middle = cut(index, before);
    insert_free(index);
    index = middle;
  }
  if (end - begin < blocks_[index].size) insert_free(cut(index, end - begin));
  blocks_[index].mapped = false;
  merge(index, blocks_[index].previous);
  merge(index, blocks_[index].next);
  free_blocks(blocks_[index]).unmapped.insert({{}, blocks_[index].address, index});
  reserved_ -= end - begin;
  statistics_.reserved_bytes.decrease(blocks_[index].small, (end - begin).value);
  ++statistics_.num_device_free;
  if (!blocks_[index].split()) release_range(index);
}

void CachingAllocator::release_range(BlockIndex index) {
  erase_free(index);
  segments_[blocks_[index].segment].first = k_no_block;
  segments_.remove(blocks_[index].segment);
  remove_block(index);
}

}  // namespace shardlab
