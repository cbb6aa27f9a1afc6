#include "simulator/network/group_shape.h"

#include <algorithm>
#include <map>

namespace shardlab {
namespace {

int ranks_of_switch(const Device& device) {
  return std::max({device.ranks_per_node, device.wires.switch_ranks, 1});
}

}  // namespace

GroupShape shape_of_group(std::span<const int> members, const Device& device) {
  std::map<int, int> on_node;
  for (const int rank : members) ++on_node[rank / ranks_of_switch(device)];
  GroupShape shape{static_cast<int>(members.size()), std::max(1, static_cast<int>(on_node.size())),
                   static_cast<int>(members.size())};
  for (const auto& [node, ranks] : on_node) shape.fewest = std::min(shape.fewest, ranks);
  return shape;
}

GroupShape shape_of_all(const Device& device) {
  const int together = ranks_of_switch(device);
  const int last = device.ranks % together;
  return {device.ranks, std::max(1, (device.ranks + together - 1) / together),
          last > 0 ? last : std::min(device.ranks, together)};
}

}  // namespace shardlab
