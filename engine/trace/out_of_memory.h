// A real run that needed more memory than a rank may use: where it was and what was there. Predictions are
// validated against such runs as well.
#pragma once

#include <cstdint>
#include <string>

#include "engine/trace/step_trace.h"

namespace shardlab {

struct OutOfMemory {
  int rank = 0;
  std::int64_t step = 0;  // from 0; -1: the setup
  InstructionId instruction;
  std::string label;  // instruction_label
  Bytes asked;        // for the block that could not be had; zero when the allocator does not tell
  Bytes live;         // booked at that moment
  BytesByClass by_class{};
  Bytes limit;            // what the rank may use; zero when unknown
  std::string allocator;  // the allocator's own words, one line

  friend bool operator==(const OutOfMemory&, const OutOfMemory&) = default;
};

// "out of memory: 1.2 GiB more with 70 GiB in use of 80 GiB; most is activation 40 GiB, optimizer_state 20
// GiB ...".
std::string describe(const OutOfMemory& out_of_memory);

}  // namespace shardlab
