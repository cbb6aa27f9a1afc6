// The events of torch's memory history (torch.cuda.memory._snapshot() of torch 2.11), one device's, as
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/memory/caching_allocator/allocator_types.h"

namespace shardlab {

enum class HistoryAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
};

struct HistoryEvent {
  HistoryAction action = HistoryAction::alloc;
  std::uint64_t address = 0;  // not of oom
  Bytes size;                 // of alloc and free: what was asked for; else what was reserved, or wanted
  AllocatorStream stream;     // the driver's name of it; 0 is the default stream
  std::optional<Bytes> device_free;  // of oom
  std::uint32_t origin = 0;          // of alloc: a place in the history's list
  Nanoseconds at;                    // on some clock, to the microsecond; 0 where the snapshot has no times
};

struct HistoryBlock {
  std::uint64_t address = 0;
  Bytes size;  // as it was asked for
  AllocatorStream stream;
  std::uint32_t origin = 0;
};

struct MemoryHistory {
  std::vector<HistoryEvent> events;       // without what has nothing to do with memory
  std::vector<HistoryBlock> live_at_end;  // allocated when the snapshot was taken
  Bytes reserved_at_start;                // before the first event
  std::string options;                    // PYTORCH_CUDA_ALLOC_CONF
  std::vector<std::string> origins;       // who asked for blocks (block_origin.h); the first is empty
};

// bad_input: no such pickle, no history in it, or several devices and none chosen.
Result<MemoryHistory> read_history_events(std::string pickle, std::optional<int> device);

}  // namespace shardlab
