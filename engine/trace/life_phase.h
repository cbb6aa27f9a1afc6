// What a job holds in each phase of its life, beside its steady step.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

enum class LifePhase : std::uint8_t {
  construct,
  load,
  shard,
  first_step,
  steady,
  evaluate,
  save_full,
  save_sharded,
  resume,
};
template <>
inline constexpr auto k_words<LifePhase> =
    std::to_array<Word<LifePhase>>({{LifePhase::construct, "construct"},
                                    {LifePhase::load, "load"},
                                    {LifePhase::shard, "shard"},
                                    {LifePhase::first_step, "first_step"},
                                    {LifePhase::steady, "steady"},
                                    {LifePhase::evaluate, "evaluate"},
                                    {LifePhase::save_full, "save_full"},
                                    {LifePhase::save_sharded, "save_sharded"},
                                    {LifePhase::resume, "resume"}});

struct PhaseMemory {
  LifePhase phase = LifePhase::steady;
  Bytes device = {};   // live tensors of the rank with most
  Bytes host = {};     // of the node with most, its processes included
  bool asked = false;  // the scenario's job has this phase
  bool runs = false;   // `shardlab run` does it; else it is predicted only
  std::string formula = {};

  friend bool operator==(const PhaseMemory&, const PhaseMemory&) = default;
};

}  // namespace shardlab
