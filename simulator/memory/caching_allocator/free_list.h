// Free blocks in order of size and address.
//
// A sorted sequence in chunks, because an allocation costs one search, one removal and often one insertion:
// keys that lie side by side are searched several times faster than the nodes of a tree, and a chunk is short
// enough to shift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/memory/caching_allocator/allocator_types.h"

namespace shardlab {

using BlockIndex = std::uint32_t;
inline constexpr BlockIndex k_no_block = ~BlockIndex{0};

struct FreeKey {
  Bytes size;  // 0 among blocks that are ordered by address alone
  DeviceAddress address;
  BlockIndex block = k_no_block;
  friend bool operator<(const FreeKey& a, const FreeKey& b) {
    return a.size != b.size ? a.size < b.size : a.address < b.address;
  }
};

// No two keys have the same size and address. Any change ends all iterators.
class FreeList {
  using Chunk = std::vector<FreeKey>;

 public:
  class Iterator {
   public:
    const FreeKey& operator*() const { return (*chunk_)[place_]; }
    const FreeKey* operator->() const { return &**this; }
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class FreeList;
    Iterator(std::vector<Chunk>::const_iterator chunk, std::size_t place) : chunk_(chunk), place_(place) {}
    std::vector<Chunk>::const_iterator chunk_;
    std::size_t place_;
  };

  bool empty() const { return chunks_.empty(); }
  Iterator begin() const { return {chunks_.begin(), 0}; }
  Iterator end() const { return {chunks_.end(), 0}; }
  const FreeKey& largest() const { return chunks_.back().back(); }  // of a list that is not empty

  // The first that is not less than the key.
  Iterator lower_bound(const FreeKey& key) const;

  void insert(const FreeKey& key);
  void erase(const FreeKey& key);  // which must be there; its block does not matter
  void erase(Iterator at);

 private:
  std::vector<Chunk>::iterator chunk_of(const FreeKey& key);
  void erase(std::vector<Chunk>::iterator chunk, std::size_t place);

  std::vector<Chunk> chunks_;  // none is empty; the last key of each is less than the first of the next
};

}  // namespace shardlab
