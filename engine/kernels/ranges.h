// Copies between two layouts of the same parameters (copy-in, copy-out), with a cast: a list of ranges of
// elements.
#pragma once

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

// Elements [from, from + count) of the source are [to, to + count) of the destination.
struct CopyRange {
  std::int64_t from = 0, to = 0, count = 0;
};

// The range that holds element `index` of all ranges laid end to end; `ends` are their running sums of
// counts.
SHARDLAB_HD std::int64_t range_of(const std::int64_t* ends, std::int64_t ranges, std::int64_t index) {
  std::int64_t low = 0, high = ranges - 1;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (ends[middle] > index) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

template <typename To, typename From>
SHARDLAB_HD void copy_element(const CopyRange& range, std::int64_t offset, const From* source,
                              To* destination) {
  destination[range.to + offset] = from_float<To>(to_float(source[range.from + offset]));
}

}  // namespace shardlab::kernels
