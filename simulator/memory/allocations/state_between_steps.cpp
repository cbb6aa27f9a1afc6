#include "simulator/memory/allocations/state_between_steps.h"

#include <algorithm>

namespace shardlab {
namespace {

// The segment that an address lies in, of those from the lowest on.
std::size_t segment_at(const std::vector<SegmentSnapshot>& segments, DeviceAddress address) {
  const auto after =
      std::upper_bound(segments.begin(), segments.end(), address,
                       [](DeviceAddress at, const SegmentSnapshot& segment) { return at < segment.address; });
  return static_cast<std::size_t>(after - segments.begin()) - 1;
}

void forget_places(std::vector<SegmentSnapshot>& segments) {
  for (SegmentSnapshot& segment : segments) {
    segment.address = {};
    for (BlockSnapshot& block : segment.blocks)
      if (block.state == BlockState::free) block.requested = {};
  }
}

}  // namespace

bool comparable(const AllocatorOptions& options, const AllocatorDevice& device) {
  return !options.expandable_segments && options.garbage_collection_threshold <= 0 && !device.place;
}

StateBetweenSteps state_of(const NotedAllocator& allocator, const std::vector<LiveBlock>& lasting) {
  StateBetweenSteps state;
  state.segments = allocator.snapshot();
  state.lasting.reserve(lasting.size());
  for (const LiveBlock& live : lasting) {
    if (live.allocation == AllocationId{}) {
      state.lasting.push_back({state.segments.size(), Bytes{}});
      continue;
    }
    const DeviceAddress address = allocator.address_of(live);
    const std::size_t segment = segment_at(state.segments, address);
    state.lasting.push_back({segment, address - state.segments[segment].address});
  }
  forget_places(state.segments);
  return state;
}

}  // namespace shardlab
