// The events of torch's memory history (torch.cuda.memory._snapshot() of torch 2.11), one device's, as
// values.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/pickle/pickle_source.h"
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

// A long history has tens of millions of them.
struct HistoryEvent {
  std::uint64_t address = 0;  // not of oom, in whose place device_free() lies
  Bytes size;                 // of alloc and free: what was asked for; else what was reserved, or wanted
  AllocatorStream stream;     // the driver's name of it; 0 is the default stream
  Nanoseconds at;             // on some clock, to the microsecond; 0 where the snapshot has no times
  std::uint32_t origin = 0;   // of alloc: a place in the history's list
  HistoryAction action = HistoryAction::alloc;

  std::optional<Bytes> device_free() const {  // of oom
    if (action != HistoryAction::oom || address == 0) return std::nullopt;
    return Bytes{static_cast<std::int64_t>(address - 1)};
  }
  void set_device_free(Bytes free) { address = static_cast<std::uint64_t>(free.value) + 1; }
};
static_assert(sizeof(HistoryEvent) == 40);

// In pieces: a list in one would be copied, and be in memory twice, whenever it has to grow.
using HistoryEvents = std::deque<HistoryEvent>;

struct HistoryBlock {
  std::uint64_t address = 0;
  Bytes size;  // as it was asked for
  AllocatorStream stream;
  std::uint32_t origin = 0;
};

struct MemoryHistory {
  HistoryEvents events;                   // without what has nothing to do with memory
  std::vector<HistoryBlock> live_at_end;  // allocated when the snapshot was taken
  Bytes reserved_at_start;                // before the first event
  std::string options;                    // PYTORCH_CUDA_ALLOC_CONF
  std::vector<std::string> origins;       // who asked for blocks (block_origin.h); the first is empty
};

// The bytes of a file for read_history_events(). Errors of PickleSource::open().
Result<PickleSource> open_memory_history(const std::filesystem::path& file);

// bad_input: no such pickle, no history in it, or several devices and none chosen.
Result<MemoryHistory> read_history_events(PickleSource pickle, std::optional<int> device);

}  // namespace shardlab
