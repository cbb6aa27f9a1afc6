// Timeline files (tests/data/timelines): instructions with durations and waits, and when they must start and
// end.
//
//   host asynchronous | synchronous
//   streams NAME...          groups NAME...
//   compute_beside_collective F   collective_beside_compute F     (optional)
//   resources NAME...        shared ones (optional), and those of them that slow work holds as fast work
//   does: held NAME...             what work takes of them unless its row says: computing NAME FRACTION...
//   communicating NAME FRACTION... values NAME... step      names of the numbers a case gives; the last is
//   the expected step time case NAME NUMBER... NAME STREAM DURATION [group G] [after NAME...] [launch N]
//   [issue N] [takes NAME FRACTION...] [= SPAN...]
//                            one span a case, `-`: not stated
//   wait NAME                the host waits for NAME
//
// A duration is a number or a value's name; 0 means an instruction without device time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/timeline.h"

namespace shardlab::test {

struct ExpectedSpan {
  std::string name;
  std::optional<std::pair<std::int64_t, std::int64_t>> span;
};

struct TimelineCase {
  std::string name;
  std::int64_t step = 0;
  TimelineOptions options;
  std::vector<TimedInstruction> instructions;
  std::vector<std::vector<InstructionId>> waits;  // what the instructions' spans point to
  std::vector<std::vector<ResourceUse>> uses;     // likewise
  std::vector<ExpectedSpan> expected;             // by instruction
};

// Throws std::runtime_error with the line on a malformed file.
std::vector<TimelineCase> read_timeline_file(const std::filesystem::path& file);

}  // namespace shardlab::test
