#include "engine/scenario/mesh.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/limits/saturated.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// What is left of the ranks for one dimension when the others have so many. They need not fit together yet.
int part_of(int ranks, const std::array<std::int64_t, 3>& others) {
  return static_cast<int>(
      std::max<std::int64_t>(1, ranks / saturated_product(others[0], others[1], others[2])));
}

}  // namespace

int world_size(const Scenario& scenario) {
  const ClusterSpec& cluster = *scenario.cluster;
  return cluster.device == DeviceKind::cpu ? cluster.ranks : cluster.nodes * cluster.gpus_per_node;
}

ResolvedMesh resolve_mesh(const Scenario& scenario) {
  const ParallelSpec& parallel = *scenario.parallel;
  const MeshSpec& given = parallel.mesh;
  ResolvedMesh mesh{given.replicate, given.shard, given.tensor, given.expert};
  const bool replicates = replicates_state(parallel);
  const int ranks = world_size(scenario);
  if (given.shard == 0 && replicates) mesh.shard = 1;
  if (given.replicate == 1 && replicates)
    mesh.replicate = part_of(ranks, {mesh.shard, mesh.tensor, mesh.expert});
  if (mesh.shard == 0) mesh.shard = part_of(ranks, {mesh.replicate, mesh.tensor, mesh.expert});
  return mesh;
}

}  // namespace shardlab
