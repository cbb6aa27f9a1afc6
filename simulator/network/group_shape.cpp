#include "simulator/network/group_shape.h"

#include <algorithm>

#include "simulator/network/ranks_on_nodes.h"

namespace shardlab {
namespace {

int ranks_of_switch(const Device& device) {
  return std::max({device.ranks_per_node, device.wires.switch_ranks, 1});
}

}  // namespace

GroupShape shape_of_group(std::span<const int> members, const Device& device) {
  const RanksOnNodes on = ranks_on_nodes(members, ranks_of_switch(device));
  return {static_cast<int>(members.size()), std::max(1, on.nodes), on.fewest};
}

GroupShape shape_of_all(const Device& device) {
  const int together = ranks_of_switch(device);
  const int last = device.ranks % together;
  return {device.ranks, std::max(1, (device.ranks + together - 1) / together),
          last > 0 ? last : std::min(device.ranks, together)};
}

}  // namespace shardlab
