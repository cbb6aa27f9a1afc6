// What a program had of an allocator when that was most, by who had asked for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/memory/replay/allocator_recording.h"

namespace shardlab {

struct BlocksOfOrigin {
  std::string where;  // of AllocatorRecording::origins; empty where no stack was noted
  Bytes bytes;        // as they were asked for
  std::int64_t blocks = 0;
};

struct LiveBlocks {
  std::int64_t operation = 0;  // after this one of the recording; 0: before its first
  Bytes bytes;                 // as they were asked for
  std::int64_t blocks = 0;
  std::vector<BlocksOfOrigin> by_origin;  // the most bytes first; empty where the file knows no stacks
};

// After the first `calls` of the recording's calls. `failed`: by block, which allocations were refused.
LiveBlocks live_after(const AllocatorRecording& recording, std::size_t calls,
                      const std::vector<bool>& failed);

}  // namespace shardlab
