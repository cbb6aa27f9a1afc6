// Exposed communication: time in which a rank's compute stream is idle and waits for a communication
// instruction.
#pragma once

#include <vector>

#include "engine/base/units.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// The exposed communication of one rank in one step. Stream 0 computes; it is idle before its instructions
// (collectives on it do not count as work). Idle time is exposed communication while
//
// - the next compute instruction is issued and a collective it depends on has not ended; it depends through
//   `waits` and through the order of streams, over any number of instructions in between, or
// - a collective on the compute stream itself runs, or
// - the next compute instruction is not issued yet because the host stands still in another one that waits
//   for a collective.
//
// Idle time for other reasons (the host issues too late, a copy runs after its gather) is not. The trace must
// fit the plan (check_trace).
Nanoseconds exposed_communication(const StepPlan& plan, const RankTrace& rank);

// [begin, end) on the clock of a rank's step.
struct TimeInterval {
  Nanoseconds begin;
  Nanoseconds end;

  friend bool operator==(const TimeInterval&, const TimeInterval&) = default;
};

// When that is, in order and without overlaps; the lengths add up to exposed_communication().
std::vector<TimeInterval> exposed_intervals(const StepPlan& plan, const RankTrace& rank);

}  // namespace shardlab
