// Delays before instructions, drawn from a seed: a wait that is missing shows in some order of the queues,
// and one lucky order hides it. A test switch.
#pragma once

#include <cstdint>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"

namespace shardlab {

class Jitter {
 public:
  explicit Jitter(std::uint64_t seed, Nanoseconds most = Nanoseconds{300'000}) : seed_(seed), most_(most) {}

  // Before an instruction of the run's step `step`; for about half of them none. A pure function.
  Nanoseconds before(std::uint64_t step, InstructionId instruction) const {
    const std::uint64_t drawn = mix(mix(seed_ ^ mix(step)) ^ instruction.value);
    if ((drawn & 1U) == 0) return {};
    return {static_cast<std::int64_t>((drawn >> 1U) % static_cast<std::uint64_t>(most_.value + 1))};
  }

 private:
  static std::uint64_t mix(std::uint64_t value) { return splitmix64(value + k_splitmix_step); }

  std::uint64_t seed_;
  Nanoseconds most_;
};

}  // namespace shardlab
