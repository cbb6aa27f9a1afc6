// Seeded sequences of what a program asks of an allocator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/units.h"

namespace shardlab {

enum class AllocatorCall : std::uint8_t { malloc, free, record_stream, complete_events, empty_cache };

struct SequenceStep {
  AllocatorCall call = AllocatorCall::malloc;
  Bytes size;               // malloc
  int stream = 0;           // malloc, record_stream, complete_events: of the sequence's streams
  std::uint64_t which = 0;  // free, record_stream: of the live allocations, modulo their number
  int count = 0;            // complete_events: how many more
};

struct AllocatorSequence {
  std::uint64_t seed = 0;
  Bytes total, available;
  int streams = 1;
  std::vector<SequenceStep> steps;
};

// The same on every machine.
AllocatorSequence make_sequence(std::uint64_t seed);

std::string to_string(const SequenceStep& step);

}  // namespace shardlab
