#include "simulator/memory/allocations/temporary_blocks.h"

namespace shardlab {

void TemporaryBlocks::change(Bytes bytes) {
  if (bytes > Bytes{})
    blocks_.push_back({bytes, list_.take(bytes, stream_)});
  else
    give(bytes * -1);
}

void TemporaryBlocks::give(Bytes bytes) {
  while (bytes > Bytes{}) {
    auto chosen = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block->bytes <= bytes && (chosen == blocks_.end() || block->bytes > chosen->bytes)) chosen = block;
    }
    if (chosen == blocks_.end()) return;
    bytes -= chosen->bytes;
    list_.give(chosen->storage);
    blocks_.erase(chosen);
  }
}

void TemporaryBlocks::give_all() {
  for (const Block& block : blocks_) list_.give(block.storage);
  blocks_.clear();
}

}  // namespace shardlab
