// Calls that tell the date.
#include "tests/faults/counted_call.h"

#include <sys/time.h>
#include <ctime>

// A clock that jumps by a day, both ways in turn; only those that tell the date may.
namespace {

time_t jump() {
  static bool forwards = false;
  if (next_call(index_of("clock_gettime")) != Fault::fails) return 0;
  return (forwards = !forwards) ? 86400 : -86400;
}

}  // namespace

COUNTED(int, clock_gettime, (clockid_t clock, timespec* now)) {
  static auto* const in_library = library_function<decltype(counted_clock_gettime)>("clock_gettime");
  const int result = in_library(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += jump();
  return result;
}

COUNTED(int, gettimeofday, (timeval * now, void* zone)) {
  static auto* const in_library = library_function<decltype(counted_gettimeofday)>("gettimeofday");
  const int result = in_library(now, zone);
  now->tv_sec += jump();
  return result;
}

COUNTED(time_t, time, (time_t * now)) {
  static auto* const in_library = library_function<decltype(counted_time)>("time");
  const time_t result = in_library(nullptr) + jump();
  if (now != nullptr) *now = result;
  return result;
}
