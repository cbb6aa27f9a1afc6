// Numbers at random that depend on their key alone.
#pragma once

#include <cstdint>

namespace shardlab {

// Which numbers of a seed: what they are for, whose, and the how manyth.
struct DrawKey {
  std::int64_t seed = 0;
  std::uint64_t purpose = 0, whose = 0, number = 0;
};

// About normal, mean 0, deviation 1: twelve even numbers added up (Irwin and Hall), so that it lies within
// -6 to 6 and is the same on every machine.
double draw_normal(const DrawKey& key);

}  // namespace shardlab
