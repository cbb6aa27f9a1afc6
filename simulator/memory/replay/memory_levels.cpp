#include "simulator/memory/replay/memory_levels.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardlab {
namespace {

void take(const HistoryEvent& event, MemoryLevel& level) {
  switch (event.action) {
    case HistoryAction::alloc:
      level.allocated += event.size;
      level.active += event.size;
      break;
    case HistoryAction::free_requested: level.allocated -= event.size; break;
    case HistoryAction::free_completed: level.active -= event.size; break;
    case HistoryAction::segment_alloc:
    case HistoryAction::segment_map: level.reserved += event.size; break;
    case HistoryAction::segment_free:
    case HistoryAction::segment_unmap: level.reserved -= event.size; break;
    case HistoryAction::oom: break;
  }
}

// From what is alive at the end back to the first event. More is active then where blocks that were given
// back before it are completed within the history.
MemoryLevel level_at_start(const MemoryHistory& history) {
  MemoryLevel start{{}, {}, history.reserved_at_start};
  for (const HistoryBlock& block : history.live_at_end) start.allocated += block.size;
  start.active = start.allocated;
  for (const HistoryEvent& event : history.events) {
    if (event.action == HistoryAction::alloc) start.allocated -= event.size, start.active -= event.size;
    if (event.action == HistoryAction::free_requested) start.allocated += event.size;
    if (event.action == HistoryAction::free_completed) start.active += event.size;
  }
  start.active = std::max(start.active, start.allocated);
  return start;
}

void raise(MemoryLevel& highest, const MemoryLevel& level) {
  highest.allocated = std::max(highest.allocated, level.allocated);
  highest.active = std::max(highest.active, level.active);
  highest.reserved = std::max(highest.reserved, level.reserved);
}

}  // namespace

Result<std::vector<MemoryStretch>> memory_stretches(const MemoryHistory& history, std::size_t most) {
  std::vector<MemoryStretch> stretches;
  const std::size_t events = history.events.size();
  const std::size_t each = std::max<std::size_t>((events + most - 1) / std::max<std::size_t>(most, 1), 1);
  MemoryLevel level = level_at_start(history);
  for (std::size_t i = 0; i < events; ++i) {
    if (i % each == 0) stretches.push_back({{}, level, level});
    take(history.events[i], level);
    if (level.allocated.value < 0 || level.active.value < 0 || level.reserved.value < 0)
      return bad_input({}, fmt::format("event {} gives more memory back than there is", i + 1),
                       "the history and what was alive at its end contradict each other");
    stretches.back().last = level;
    stretches.back().end = history.events[i].at - history.events.front().at;
    raise(stretches.back().highest, level);
  }
  return stretches;
}

}  // namespace shardlab
