// What of an allocator's state decides what later steps find: when two steps end in the same one, all later
// steps do what the last of them did. Private to this folder.
//
// Addresses are left out: only their order matters, and each new segment lies behind all others. Not compared
// are the ages of blocks, by which garbage is collected, and the addresses without memory of expandable
// segments: `comparable` says whether options leave both out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulator/memory/allocations/noted_allocator.h"

namespace shardlab {

struct StateBetweenSteps {
  std::vector<SegmentSnapshot> segments;               // from the lowest on, at address 0
  std::vector<std::pair<std::size_t, Bytes>> lasting;  // by number: its segment, and where it begins there
  friend bool operator==(const StateBetweenSteps&, const StateBetweenSteps&) = default;
};

bool comparable(const AllocatorOptions& options, const AllocatorDevice& device);

// `lasting`: by number; what does not live has a default allocation.
StateBetweenSteps state_of(const NotedAllocator& allocator, const std::vector<LiveBlock>& lasting);

}  // namespace shardlab
