#include "engine/strategies/volume_rules.h"

#include "engine/scenario/mesh.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {

double reductions_of_step(const Scenario& scenario) {
  return reduces_every_micro_batch(scenario) ? micro_batches_of_step(scenario) : 1;
}

std::optional<double> replicated_volume(const Scenario& scenario) {
  return 2 * reductions_of_step(scenario);
}

double sharded_volume(const Scenario& scenario, double gathers) {
  const ResolvedMesh mesh = resolve_mesh(scenario);
  const double reductions = reductions_of_step(scenario);
  if (mesh.replicate == 1) return gathers + reductions;
  const double joined = scenario.parallel->requires_all_reduce ? reductions : 1;
  return gathers + reductions + 2 * joined / mesh.shard;  // and all-reduces of the shard
}

std::optional<double> resharding_volume(const Scenario& scenario) {
  if (!scenario.parallel->reshard_after_backward) return std::nullopt;
  const double micro_batches = micro_batches_of_step(scenario);
  const ReshardAfterForward& reshard = scenario.parallel->reshard_after_forward;
  if (reshard.kind == ReshardKind::never) return sharded_volume(scenario, micro_batches);
  // With a number of ranks backward gathers within a group of them.
  const double backward = reshard.kind == ReshardKind::to_ranks ? 1.0 - 1.0 / reshard.ranks : 1;
  return sharded_volume(scenario, (1 + backward) * micro_batches);
}

}  // namespace shardlab
