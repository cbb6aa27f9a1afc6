// The order in which torch looks at the streams that have pending events.
//
// Torch keeps the queues of events in a hash table (c10/util/flat_hash_map.h: open addressing, Robin Hood
// insertion, Fibonacci hashing, half full at most) and polls them in the order of its slots. Blocks that
// become free in another order merge in another order, and peaks of inactive_split_bytes differ: so the order
// is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/memory/caching_allocator/allocator_types.h"

namespace shardlab {

class StreamPollOrder {
 public:
  // Adds a stream, known by the caller as `index`, unless it is there.
  void insert(std::uint32_t index, AllocatorStream stream, int device);
  void erase(std::uint32_t index);

  bool empty() const { return count_ == 0; }
  // The indices in the order of polling.
  void list(std::vector<std::uint32_t>& out) const;

 private:
  struct Slot {
    int distance = -1;  // from the slot that the hash asks for; negative: empty
    std::uint32_t index = 0;
    std::uint64_t hash = 0;
    bool empty() const { return distance < 0; }
  };

  void add(Slot slot);
  bool place(Slot& slot);
  void grow();
  std::size_t home(std::uint64_t hash) const;

  std::vector<Slot> slots_;  // with room behind the last home, so that no search wraps around
  std::size_t homes_ = 0;    // a power of two, or 0 before the first insertion
  int most_lookups_ = 0;
  std::size_t count_ = 0;
};

}  // namespace shardlab
