#include "simulator/network/ranks_on_nodes.h"

#include <algorithm>
#include <cstddef>

namespace shardlab {

RanksOnNodes ranks_on_nodes(std::span<const int> ascending, int together) {
  RanksOnNodes on;
  for (std::size_t i = 0; i < ascending.size();) {
    const int node = ascending[i] / together;
    const std::size_t begin = i;
    while (i < ascending.size() && ascending[i] / together == node) ++i;
    const int count = static_cast<int>(i - begin);
    on.fewest = on.nodes == 0 ? count : std::min(on.fewest, count);
    on.most = std::max(on.most, count);
    ++on.nodes;
  }
  return on;
}

}  // namespace shardlab
