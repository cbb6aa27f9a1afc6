// The temporaries of one operator while it runs. Private to this folder.
#pragma once

#include <vector>

#include "simulator/memory/allocations/allocation_list.h"

namespace shardlab {

class TemporaryBlocks {
 public:
  TemporaryBlocks(AllocationList& list, StreamId stream) : list_(list), stream_(stream) {}

  // Above zero a block is taken. Below, so many bytes are given back: the oldest block of that size (what a
  // kernel has read goes, its result stays), or several, the largest that fit first.
  void change(Bytes bytes);
  void give_all();

 private:
  struct Block {
    Bytes bytes;
    StorageIndex storage;
  };
  void give(Bytes bytes);

  AllocationList& list_;
  StreamId stream_;
  std::vector<Block> blocks_;  // oldest first
};

}  // namespace shardlab
