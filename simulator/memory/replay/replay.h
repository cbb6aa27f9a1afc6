// What torch's caching allocator would have done with a recording, under its own or other options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/memory/caching_allocator/allocator_statistics.h"
#include "simulator/memory/replay/allocator_recording.h"
#include "simulator/memory/replay/live_at_peak.h"

namespace shardlab {

// What is absent is the recording's.
struct ReplaySettings {
  std::optional<std::string> options;  // the text of PYTORCH_ALLOC_CONF
  std::optional<Bytes> limit;          // what the driver can give
};

struct FailedAllocation {
  std::int64_t operation = 0;  // of the recording, from 1; 0: allocated before it began
  Bytes wanted;
};

struct ReplayOutcome {
  AllocatorStatistics statistics;
  std::string options;
  std::optional<Bytes> limit;  // absent: as much as is asked for
  LimitSource limit_source = LimitSource::none;
  std::int64_t operations = 0;
  std::vector<FailedAllocation> failures;  // the first hundred; statistics.num_ooms has the number
  std::int64_t recorded_failures = 0;      // allocations that failed when it was recorded
  std::int64_t recorded_now_possible =
      0;                            // of these, how many do not fail here; their memory is given back at once
  std::int64_t earlier_blocks = 0;  // allocated before the recording began
  Bytes earlier_bytes;
  Bytes reserved_in_vain;  // at its most, reserved memory that no active block had
  LiveBlocks at_peak;      // what the program had when allocated memory was at its highest

  // The part of the highest reserved memory that active blocks never had at once.
  double fragmentation() const;
};

// Allocations that fail are part of the outcome. Errors: bad_input for options that torch would refuse, and
// for a fraction of a memory whose size nobody says.
Result<ReplayOutcome> replay(const AllocatorRecording& recording, const ReplaySettings& settings);

}  // namespace shardlab
