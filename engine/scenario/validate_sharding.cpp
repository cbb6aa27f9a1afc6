// Settings of FSDP1 and FSDP2 that contradict the mesh or the accumulation.
#include <fmt/core.h>

#include "engine/scenario/complaints.h"
#include "engine/scenario/mesh.h"

namespace shardlab {
namespace {

void check_fsdp1(Complaints& c, const ResolvedMesh& mesh) {
  const Fsdp1Sharding sharding = c.scenario.parallel.sharding;
  const bool hybrid = is_hybrid(sharding);
  if (sharding == Fsdp1Sharding::no_shard && mesh.shard > 1) {
    c.refuse("parallel.mesh.shard", "no_shard shards nothing", "remove it, or use full_shard");
  } else if (sharding != Fsdp1Sharding::no_shard && !hybrid && mesh.replicate > 1) {
    c.refuse("parallel.sharding",
             fmt::format("{} shards over all ranks, the mesh replicates {} times", to_string(sharding),
                         mesh.replicate),
             sharding == Fsdp1Sharding::full_shard ? "use hybrid_shard" : "use hybrid_shard_zero2");
  }
}

void check_fsdp2(Complaints& c, const ResolvedMesh& mesh) {
  const ParallelSpec& parallel = c.scenario.parallel;
  const TrainSpec& train = c.scenario.train;
  if (!parallel.reshard_after_backward && train.accumulation == 1) {
    c.refuse("parallel.reshard_after_backward",
             "false keeps parameters until the step's next micro-batch, and there is only one",
             "remove it, or raise train.accumulation");
  }
  if (parallel.requires_all_reduce) return;
  if (mesh.replicate == 1) {
    c.refuse("parallel.requires_all_reduce", "false delays the all-reduce over replicas, and there are none",
             "remove it, or set parallel.mesh.replicate");
  } else if (train.accumulation == 1 || train.sync != GradientSync::every) {
    c.refuse("parallel.requires_all_reduce",
             "false delays the all-reduce of earlier micro-batches, and none of them is reduced",
             "set train.accumulation above 1 and train.sync: every");
  }
}

}  // namespace

void validate_sharding(Complaints& c) {
  const ResolvedMesh mesh = resolve_mesh(c.scenario);
  if (c.scenario.parallel.strategy == "fsdp1") check_fsdp1(c, mesh);
  if (c.scenario.parallel.strategy == "fsdp2") check_fsdp2(c, mesh);
}

}  // namespace shardlab
