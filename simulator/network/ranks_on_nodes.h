// How the ranks of a group lie on machines.
#pragma once

#include <span>

namespace shardlab {

struct RanksOnNodes {
  int nodes = 0;
  int fewest = 0, most = 0;  // of the ranks, on one of these nodes
};

// `ascending`: ranks that fill machines of `together` in order. One pass without memory of its own, as groups
// may have a hundred million ranks.
RanksOnNodes ranks_on_nodes(std::span<const int> ascending, int together);

}  // namespace shardlab
