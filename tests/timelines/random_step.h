// Steps at random, of few different durations, so that much of them happens at the same moments.
#pragma once

#include <random>
#include <vector>

#include "simulator/core/timeline.h"

namespace shardlab::test {

struct RandomStep {
  std::vector<std::vector<InstructionId>> waits;
  std::vector<std::vector<ResourceUse>> uses;
  std::vector<TimedInstruction> instructions;  // whose spans point into the two above
};

// A step of 60 instructions, drawn from `random`.
RandomStep random_step(std::mt19937& random, const TimelineOptions& options);

}  // namespace shardlab::test
