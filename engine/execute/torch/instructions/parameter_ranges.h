// Which contiguous pieces of one buffer hold the same parameter elements as which pieces of another.
//
// Layouts are intersected row by row (plan/layout.h), neighbours are joined: a copy between equal layouts is
// one piece.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/execute/torch/instructions/action.h"

namespace shardlab {

// Elements [from, from + count) of a source are the same as [to, to + count) of the destination.
struct ElementRange {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

// Elements of the parameter that a buffer holds: element `first` of the parameter lies at `offset`.
struct HeldRange {
  ParameterId parameter;
  std::int64_t first = 0;
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

// Ascending by offset. Of a gathered buffer the parts of all ranks, of a sharded one this rank's; padding is
// in none of them.
std::vector<HeldRange> held_ranges(const RunState& run, const Buffer& buffer);

// Ascending by `to`, joined, but never across the storages of separate parameters. Between buffers of one
// layout and parameter list the padding is included.
std::vector<ElementRange> common_ranges(const RunState& run, const Buffer& source, const Buffer& destination);

// Elements of the buffer that belong to no parameter, as ranges with `to` and `count`.
std::vector<ElementRange> padding_ranges(const RunState& run, const Buffer& buffer);

}  // namespace shardlab
