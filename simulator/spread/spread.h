// How far the ranks of a cluster are apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/base/result.h"

namespace shardlab {

// Standard deviations are fractions: 0.02 is two per cent.
struct Spread {
  double gpus = 0;         // of the speed of devices (on processors: of ranks), lasting
  double kernels = 0;      // of what an instruction that computes takes, each time anew
  double collectives = 0;  // likewise, of collectives, the same on all that take part
  double hosts = 0;        // of what hosts take to issue, lasting
  std::int64_t seed = 0;
  std::map<int, double> speeds;  // by rank: of devices that are slower or faster than that, 1 as the others
  friend bool operator==(const Spread&, const Spread&) = default;
};

// The figures of assets/hardware/spread.yaml. Fails when it is missing or wrong.
Result<Spread> read_spread();

// "kernels=1.5%": changes one of the four. Errors (bad_input at `option`): an unknown name, no fraction from
// 0 to 1.
Status set_spread(Spread& spread, const std::string& text, const std::string& option);

// "3=80%": rank 3 at that speed. Errors likewise: a rank that there is not, a speed outside 1 % to 1000 %, a
// rank for the second time.
Status set_speed(Spread& spread, const std::string& text, int ranks, const std::string& option);

// "GPUs 2 %, kernels 1 %, collectives 3 %, hosts 3 %, seed 0; rank 3 at 80 %".
std::string to_text(const Spread& spread);

}  // namespace shardlab
