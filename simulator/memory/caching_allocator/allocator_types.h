// What the caching allocator and its users name: streams, allocations, addresses, the device.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

#include "engine/base/units.h"

namespace shardlab {

// A stream by torch's number of it (`torch.cuda.Stream.stream_id`): 0 is the default stream. Memory of one
// stream is never given to another.
struct AllocatorStream {
  std::int64_t value = 0;
  friend constexpr auto operator<=>(AllocatorStream, AllocatorStream) = default;
};

// What malloc() gave and free() takes. An id is never given twice; a default one is no allocation's.
struct AllocationId {
  std::uint32_t slot = 0;
  std::uint64_t number = 0;  // of the allocations, from 1
  friend constexpr bool operator==(AllocationId, AllocationId) = default;
};

// An address on the device.
struct DeviceAddress {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(DeviceAddress, DeviceAddress) = default;
  friend constexpr DeviceAddress operator+(DeviceAddress a, Bytes n) {
    return {a.value + static_cast<std::uint64_t>(n.value)};
  }
  friend constexpr Bytes operator-(DeviceAddress a, DeviceAddress b) {
    return {static_cast<std::int64_t>(a.value - b.value)};
  }
};

// Says where the driver places the next segment, or range of addresses, of so many bytes; must not overlap a
// live one. Among free blocks of one size the allocator takes the lowest, so places are part of the result.
using PlaceSegment = std::function<DeviceAddress(Bytes size)>;

struct AllocatorDevice {
  Bytes total;      // what torch sees as the device's memory: fractions and ranges of addresses refer to it
  Bytes available;  // what the driver can give to this allocator: less than total, by contexts and libraries
  int index = 0;    // its number in torch (the order in which streams are polled depends on it)
  PlaceSegment place = {};  // without one each lies behind all earlier ones
};

}  // namespace shardlab
