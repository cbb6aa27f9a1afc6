// How large a block and a segment are, from the size that was asked for (torch 2.11,
// c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h).
#pragma once

#include "simulator/memory/caching_allocator/allocator_options.h"

namespace shardlab {

inline constexpr Bytes k_smallest_block = {512};
inline constexpr Bytes k_small_request = mebibytes(1);  // the largest block of the small pool
inline constexpr Bytes k_small_segment = mebibytes(2);

// The size of the block for a request: a multiple of 512 B, or of a part of its power of two.
Bytes block_size(Bytes requested, const AllocatorOptions& options);

// The size of the segment that is asked of the driver when no free block of the size is there.
Bytes segment_size(Bytes block, const AllocatorOptions& options);

}  // namespace shardlab
