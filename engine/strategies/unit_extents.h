// When execution enters and leaves the modules of units, inner units counted in. A segment of the loss alone
// is outside of all of them, unless the loss is said to be inside: then it is the root's.
#pragma once

#include <vector>

#include "engine/model/partition.h"

namespace shardlab {

struct UnitExtents {
  std::vector<std::vector<UnitId>> enters;  // by segment: units whose module begins with it, outer first
  std::vector<std::vector<UnitId>> leaves;  // by segment: units whose module ends with it, inner first

  // Units in the order in which their modules are entered.
  std::vector<UnitId> in_order() const;
};

UnitExtents find_extents(const ModelGraph& graph, const Partition& partition, bool loss_inside = false);

}  // namespace shardlab
