#include "engine/scenario/mesh.h"

#include <algorithm>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {

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
    mesh.replicate = std::max(1, ranks / (mesh.shard * mesh.tensor * mesh.expert));
  if (mesh.shard == 0) mesh.shard = std::max(1, ranks / (mesh.replicate * mesh.tensor * mesh.expert));
  return mesh;
}

}  // namespace shardlab
