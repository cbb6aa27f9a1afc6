// The hollow GPU: its memory is numbers, its work is events that are done or not. One a process.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "tests/peers/hollow_gpu/cuda_types.h"

namespace hollow {

// How far work has come: of each stream the events recorded on it.
using Progress = std::map<const void*, std::int64_t>;

struct Event {
  const void* stream = nullptr;
  std::int64_t number = 0;  // of its stream's events, from 1; 0: never recorded
  Progress needs;           // what is done when it is
};

// When an event is done, $HOLLOW_EVENTS.
enum class Pace {
  at_once,   // as it is recorded
  together,  // when somebody waits for it or for a later one: all streams go at one pace
  apart,     // when somebody waits for it or for what comes after it: nothing is done that need not be
};

struct Gpu {
  Gpu();
  const Size total;  // bytes, $HOLLOW_MEMORY
  const Pace pace;
  std::mutex mutex;  // for what follows
  Size used = 0;
  std::uint64_t next_address;
  std::unordered_map<std::uint64_t, Size> allocations;  // by address
  std::map<const void*, Progress> streams;              // what each has before its next event
  Progress recorded, done;
};
Gpu& gpu();

using Lock = std::lock_guard<std::mutex>;

bool on_device(const void* address);

// An address for so many bytes; none is ever given twice. The caller has the lock.
std::uint64_t place(Size size);
// Takes bytes of the device; false where it has not so many. The caller has the lock.
bool take(Size size);
// The stream's next event. The caller has the lock.
Event record(const void* stream);
// The stream's later work comes after the event. The caller has the lock.
void wait(const void* stream, const Event& event);
bool is_done(const Event& event);
// Somebody has waited until so much was done. The caller has the lock.
void finish(const Progress& progress);

}  // namespace hollow
