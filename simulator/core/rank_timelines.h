// The event engine for ranks that wait for each other: one timeline a rank, joined by their collectives.
//
// All ranks issue the same instructions; what each takes may differ. A collective stands ready on a rank by
// the rules of timeline.h, works once it stands ready on all of its members, and ends on all when the slowest
// of them has done its work: as a ring does, in which every member passes on what it gets. On a GPU it holds
// its multiprocessors while it waits. So do broadcasts and reductions to one rank, whose root need not wait
// in every algorithm.
//
// With equal times every rank is as run_timeline says, to the nanosecond. Pure, one thread; the cost grows
// with ranks times instructions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "simulator/core/rank_timeline.h"

namespace shardlab {

// Which ranks a group of the plan joins: it stands for one meeting or for several side by side.
struct GroupMeetings {
  std::vector<std::vector<int>> members;  // by meeting; ranks, ascending
  std::vector<std::uint32_t> of_rank;     // by rank, its place in `members`
};

// Spans by rank and by position. `times`: by rank and instruction; their number is that of the ranks.
// `meetings`: by group; every rank is in one of each. Errors: those of run_timeline, and internal for ranks
// that wait for each other for ever.
Result<std::vector<std::vector<Span>>> run_rank_timelines(
    const TimelineOptions& options, std::span<const TimedInstruction> instructions,
    std::span<const std::vector<InstructionTimes>> times, std::span<const GroupMeetings> meetings);

}  // namespace shardlab
