// The options of torch's CUDA caching allocator, read from the text of PYTORCH_ALLOC_CONF.
//
// Known are those that decide where device memory lies. Everything else is refused by name: options of pinned
// host memory, of graph capture and of other backends, and what torch does not know either. A value is
// refused where torch 2.11 refuses it (c10/core/AllocatorConfig.cpp), and where torch would read only a part
// of it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

struct AllocatorOptions {
  std::optional<Bytes> max_split_size;  // blocks of this size and above are never split
  Bytes large_segment_size = mebibytes(20);
  Bytes max_non_split_rounding = mebibytes(20);  // how much larger an unsplit block may be than its request
  std::array<std::int64_t, 16> roundup_divisions =
      {};                                   // of requests from 1 MiB, 2 MiB ... 32 GiB on; 0: none
  double garbage_collection_threshold = 0;  // of the allowed memory; 0: never collect
  double per_process_memory_fraction = 1;   // of the device's memory; 1: no limit
  bool expandable_segments = false;

  friend bool operator==(const AllocatorOptions&, const AllocatorOptions&) = default;
};

// "max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2,>:8]". The empty text gives torch's defaults.
// An error's place is the option's name.
Result<AllocatorOptions> parse_allocator_options(std::string_view text);

}  // namespace shardlab
