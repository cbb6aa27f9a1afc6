// Memory over the time of a history: what its events add up to, before any allocator is asked.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/result.h"
#include "simulator/memory/replay/history_events.h"

namespace shardlab {

// Bytes in use: what the program asked for and holds (torch's requested_bytes), with blocks that other
// streams still use (active), and what the driver gave (reserved).
struct MemoryLevel {
  Bytes allocated, active, reserved;
};

// Some events in a row: when the last of them was, the level after it, and the highest of each figure before,
// between or after them.
struct MemoryStretch {
  Nanoseconds end;  // since the first event; 0 where the history has no times
  MemoryLevel last;
  MemoryLevel highest;
};

// The whole history in so many stretches at most, of equally many events. bad_input where the events and what
// is alive at the end contradict each other: more was given back than there was.
Result<std::vector<MemoryStretch>> memory_stretches(const MemoryHistory& history, std::size_t most);

}  // namespace shardlab
