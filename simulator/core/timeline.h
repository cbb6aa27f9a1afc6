// The event engine: when instructions start and end, given how long each takes alone.
//
// Streams are queues in issue order, and so is every process group: collectives of one group run one after
// the other whatever their streams. The host issues instructions in order and pays for each. An instruction
// starts when it was issued, everything earlier on its stream and (a collective) in its group has ended, and
// its waits have ended.
//
// Simultaneous events have a priority. At one moment first everything ends whose work is done, then the host
// issues as far as it can, then the heads of queues start; what that ends at once (work of no time) lets the
// host and the heads go on, until nothing more happens at this moment. Between queues there is no priority:
// which stream or group has which number changes nothing.
//
// Work that runs at the same time divides the resources that it names (fair_shares.h), and computing and
// communicating may slow each other down beyond that (`Contention`). The engine is a fluid simulation on
// integer nanoseconds, remaining work counted in 2^-20 ns, so that results do not depend on rounding modes.
// Pure; no allocation per instruction beyond the result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/trace/step_trace.h"
#include "simulator/core/fair_shares.h"

namespace shardlab {

enum class HostBehaviour : std::uint8_t {
  asynchronous,  // a GPU: the host issues and goes on
  synchronous,   // a CPU: the host itself computes, and waits for what it reads; collectives and drives run
                 // in the background
};

enum class Occupation : std::uint8_t {
  nothing,    // memory bookkeeping, markers: no device time; with waits, later work of its stream waits too;
              // waited for, it is the point its stream has come to
  host_wait,  // blocks the host until its waits ended
  compute,    // everything that is neither of the others
  collective,
  drive,  // nobody's time but its own: beside a host that computes, too
};

struct TimedInstruction {
  Occupation occupation = Occupation::nothing;
  std::uint32_t stream = 0;
  std::uint32_t group = 0;  // of a collective
  Nanoseconds duration;     // alone
  Nanoseconds launch;       // host time until its first kernel is on its way
  Nanoseconds issue;        // host time for all of it, at least `launch`; it does not end before that
  std::span<const InstructionId> waits;  // positions in the same sequence, earlier
  ResourceUses uses;                     // while it runs
};

// Speeds relative to running alone, 2^20 = full speed, on top of what the resources leave.
struct Contention {
  static constexpr std::int64_t full = k_full_share;
  std::int64_t compute_beside_collective = full;
  std::int64_t collective_beside_compute = full;
};

// The rate that stands for a fraction of full speed, at least 1 %.
std::int64_t contention_rate(double fraction);

struct TimelineOptions {
  HostBehaviour host = HostBehaviour::asynchronous;
  std::uint32_t streams = 1;
  std::uint32_t groups = 0;
  std::uint32_t resources = 0;
  Contention contention;
};

// A time in which an instruction ran at one speed.
struct RunningPeriod {
  std::uint32_t instruction = 0;
  Nanoseconds begin, end;
  std::int64_t rate = 0;  // Contention::full: its speed alone
};

// What run_timeline refuses, below.
Status check_timeline(const TimelineOptions& options, std::span<const TimedInstruction> instructions);

// Spans by position; times from the first issue. `periods`, if not null, receives how fast everything ran, in
// order of time. A wait on a later instruction, a resource that it does not have or a share of none or of
// more than all of it is an internal error.
Result<std::vector<Span>> run_timeline(const TimelineOptions& options,
                                       std::span<const TimedInstruction> instructions,
                                       std::vector<RunningPeriod>* periods = nullptr);

// First issue to last end.
Nanoseconds timeline_duration(std::span<const Span> spans);

}  // namespace shardlab
