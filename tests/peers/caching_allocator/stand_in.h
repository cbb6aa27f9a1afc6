// A device that has no hardware: what stand_in.cpp does instead of the CUDA runtime, and how a test steers
// it.
//
// Memory is a number, addresses are never read or written. The n-th range of addresses that a device gives
// lies where stand_in_place() says: not one behind the other, so that comparisons of addresses are tested as
// well. Work on streams takes for ever: an event is done when stand_in_complete() says so, or when somebody
// waits for it.
#pragma once

#include <cstdint>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
extern "C" {
inline constexpr int k_stand_in_devices = 100;

// Describes a device that nobody has used yet: its memory, and how much of that can be allocated.
void stand_in_device(int device, std::int64_t total, std::int64_t available);
// The first `count` events recorded on this stream of the current device are done.
void stand_in_complete(void* stream, std::int64_t count);
// Where a device puts its n-th range of addresses, from 0 on.
std::uint64_t stand_in_place(std::uint64_t n);
}
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
