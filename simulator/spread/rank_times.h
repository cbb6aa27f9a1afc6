// What the instructions of a step take on each rank, drawn.
#pragma once

#include <span>
#include <vector>

#include "simulator/core/rank_timelines.h"
#include "simulator/spread/spread.h"

namespace shardlab {

// By rank and instruction. A device's speed and a host's are one draw each for the whole run; kernels and
// collectives are drawn for every instruction of every `step`. Everything that computes counts as bound by
// the device's speed, what waits for memory too. No draw makes anything less than half or more than one and a
// half times as long; given speeds do.
std::vector<std::vector<InstructionTimes>> rank_times(std::span<const TimedInstruction> instructions,
                                                      std::span<const GroupMeetings> meetings,
                                                      const Spread& spread, int ranks, std::int64_t step);

}  // namespace shardlab
