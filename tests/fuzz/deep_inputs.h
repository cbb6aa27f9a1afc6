// Inputs that are nested far deeper than any that a fuzzer reaches within a few kilobytes: whoever recurses
// into them runs out of stack.
#pragma once

#include <vector>

#include "tests/fuzz/seeds.h"

namespace shardlab::fuzz {

// Brackets, quotes and the like by themselves, and in the place of values of the seeds. The verdict is `any`.
std::vector<Seed> deep_inputs(const std::vector<Seed>& seeds);

}  // namespace shardlab::fuzz
