// How the ranks of a group lie on the machine.
#pragma once

#include <span>

#include "engine/hardware/device.h"

namespace shardlab {

// Ranks of one node reach each other over its links (NVLink, PCIe), others over the network. What one NVLink
// switch joins across nodes (the 72 GPUs of a rack) counts as one node.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int fewest = 1;  // ranks on the node with the fewest of the group: as many rails enter and leave it
  friend bool operator==(const GroupShape&, const GroupShape&) = default;
};

// `members`: the ranks of the group, ascending. Ranks fill nodes in order.
GroupShape shape_of_group(std::span<const int> members, const Device& device);

// All ranks of the device's cluster.
GroupShape shape_of_all(const Device& device);

}  // namespace shardlab
