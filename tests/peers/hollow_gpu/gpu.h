// The hollow GPU: its memory is numbers, its work is events that are done or not. One a process.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "tests/peers/hollow_gpu/cuda_types.h"

namespace hollow {

struct Event {
  std::int64_t number = 0;  // of all events, from 1; 0: never recorded
};

struct Gpu {
  Gpu();
  const Size total;    // bytes, $HOLLOW_MEMORY
  const bool at_once;  // events are done as they are recorded, $HOLLOW_EVENTS=at_once
  std::mutex mutex;    // for what follows
  Size used = 0;
  std::uint64_t next_address;
  std::unordered_map<std::uint64_t, Size> allocations;  // by address
  std::int64_t recorded = 0, done = 0;                  // events
};
Gpu& gpu();

using Lock = std::lock_guard<std::mutex>;

bool on_device(const void* address);

// An address for so many bytes; none is ever given twice. The caller has the lock.
std::uint64_t place(Size size);
// Takes bytes of the device; false where it has not so many. The caller has the lock.
bool take(Size size);
// Streams go at one pace: what was issued before the event is done as well. The caller has the lock.
void finish(std::int64_t event);

}  // namespace hollow
