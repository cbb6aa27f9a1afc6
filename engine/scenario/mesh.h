// The device mesh of a scenario with its defaults filled in.
#pragma once

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Sizes of the dimensions; their product is the number of ranks.
struct ResolvedMesh {
  int replicate = 1;
  int shard = 1;
  int tensor = 1;
  int expert = 1;
  int ranks() const { return replicate * shard * tensor * expert; }
  friend bool operator==(const ResolvedMesh&, const ResolvedMesh&) = default;
};

// Dimensions that were left open take what the others leave of the ranks: `replicate` under none, ddp and
// fsdp1's no_shard, `shard` under the others. For a validated scenario mesh.ranks() == world_size(scenario).
ResolvedMesh resolve_mesh(const Scenario& scenario);

}  // namespace shardlab
