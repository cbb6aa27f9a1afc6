// Which links between ranks are slow: one pair far below the others, or one rank all of whose pairs are.
//
// The rule is that of practice (DeepSpeed's and NCCL's troubleshooting guides measure pairs for the same
// purpose): a machine's links of one kind are alike, so what is far from the middle is broken, throttled or
// wired otherwise.
#pragma once

#include <string>
#include <vector>

#include "engine/base/units.h"

namespace shardlab {

struct PairLink {
  int first = 0, second = 0;    // ranks
  Nanoseconds latency;          // of an exchange of almost nothing
  double bytes_per_second = 0;  // one direction, both busy
};

struct LinkDiagnosis {
  double middle_bytes_per_second = 0;  // median of all pairs
  Nanoseconds middle_latency;
  std::vector<PairLink> slow_pairs;  // below k_slow of the median, or with more than 1 / k_slow of its
                                     // latency; none of a slow rank
  std::vector<int> slow_ranks;       // all of whose pairs are slow, of three ranks or more
};

inline constexpr double k_slow = 0.5;

LinkDiagnosis diagnose_links(const std::vector<PairLink>& links);

// "rank 3 is slow with everybody ..." one finding a line; one line that all is well when there is none. Two
// ranks have one link and nothing to compare it with.
std::vector<std::string> findings(const LinkDiagnosis& diagnosis, const std::vector<PairLink>& links);

}  // namespace shardlab
