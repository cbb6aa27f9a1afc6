// What libraries take beside the tensors of a run.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

enum class OverheadPlace : std::uint8_t {
  allocator,  // on the device, through torch's caching allocator: part of what that reserves
  device,     // on the device, beside the allocator
  host,       // in a node's host memory, of all its ranks
};
template <>
inline constexpr auto k_words<OverheadPlace> =
    std::to_array<Word<OverheadPlace>>({{OverheadPlace::allocator, "allocator"},
                                        {OverheadPlace::device, "device"},
                                        {OverheadPlace::host, "host"}});

struct MemoryOverhead {
  std::string name;
  Bytes bytes;
  Bytes low, high;  // what measurements or other settings of the library give; `bytes` where nobody knows
  OverheadPlace where = OverheadPlace::device;
  std::string formula;  // in words
  std::string source;

  friend bool operator==(const MemoryOverhead&, const MemoryOverhead&) = default;
};

}  // namespace shardlab
