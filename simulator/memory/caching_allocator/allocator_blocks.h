// What the caching allocator keeps: segments from the driver, cut into blocks; the free blocks of a pool.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulator/memory/caching_allocator/allocator_types.h"
#include "simulator/memory/caching_allocator/free_list.h"

namespace shardlab {

struct AllocatorBlock {
  DeviceAddress address;
  Bytes size, requested;
  BlockIndex previous = k_no_block, next = k_no_block;  // the neighbours within the segment
  std::uint32_t segment = 0;
  std::uint32_t stream = 0;  // its place in the allocator's list of streams
  std::uint64_t number = 0;  // of its last allocation
  std::int32_t pending_events = 0;
  std::int64_t free_since = 0;  // the pool's count of searches when it became free
  bool small = false, allocated = false;
  bool mapped = true;               // false: addresses of an expandable segment without memory
  std::vector<std::uint32_t> uses;  // other streams that were recorded

  bool split() const { return previous != k_no_block || next != k_no_block; }
  // Neither with the caller nor waiting for another stream.
  bool idle() const { return !allocated && pending_events == 0 && uses.empty(); }
};

struct AllocatorSegment {
  DeviceAddress address;
  Bytes size;  // of an expandable one: of its range of addresses
  BlockIndex first = k_no_block;
  Bytes page = {};  // of an expandable one: memory comes and goes in such pages; else 0

  bool expandable() const { return page.value != 0; }
};

// A vector whose removed entries are used again.
template <typename T>
class Slab {
 public:
  std::uint32_t add(T value) {
    if (unused_.empty()) {
      values_.push_back(std::move(value));
      return static_cast<std::uint32_t>(values_.size() - 1);
    }
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    values_[index] = std::move(value);
    return index;
  }
  void remove(std::uint32_t index) { unused_.push_back(index); }
  T& operator[](std::uint32_t index) { return values_[index]; }
  const T& operator[](std::uint32_t index) const { return values_[index]; }
  std::size_t size() const { return values_.size(); }  // with the removed ones

 private:
  std::vector<T> values_;
  std::vector<std::uint32_t> unused_;
};

// Free blocks of one stream in one pool.
struct FreeBlocks {
  FreeList mapped;    // the smallest first, of one size the lowest
  FreeList unmapped;  // the lowest first
};

// The small or the large pool: the free blocks of each stream, by the stream's place in the allocator's list.
struct AllocatorPool {
  std::vector<FreeBlocks> streams;
  std::int64_t searches = 0;  // counted while garbage may be collected: a block's age is a difference of it
};

}  // namespace shardlab
