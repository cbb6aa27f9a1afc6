// What a scenario asks about FullyShardedDataParallel.
#include <fmt/core.h>

#include "engine/scenario/complaints.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// Its MixedPrecision has no output dtype.
constexpr std::string_view k_keys[] = {
    "parallel.sharding",
    "parallel.use_orig_params",
    "parallel.sync_module_states",
    "parallel.wrap",
    "parallel.prefetch.backward",
    "parallel.prefetch.forward",
    "parallel.prefetch.limit_all_gathers",
    "precision.buffer",
    "precision.keep_low_precision_grads",
    "precision.cast_forward_inputs",
};

bool replicates(const ParallelSpec& parallel) {
  return parallel.sharding == Fsdp1Sharding::no_shard;
}

void check_offload(Complaints& c, const ResolvedMesh& mesh) {
  const OffloadSpec& offload = *c.scenario.offload;
  const TrainSpec& train = *c.scenario.train;
  if (offload.parameters != OffloadTarget::cpu) return;
  if (!offload.pin) c.refuse("offload.pin", "CPUOffload of FSDP1 always pins", "remove it, or use fsdp2");
  if (train.accumulation > 1 && train.sync == GradientSync::every)
    c.refuse("train.sync", "FSDP1 does not add reduced gradients in host memory (torch 2.11, _flat_param.py)",
             "remove it: the last micro-batch alone reduces");
  if (mesh.shard == 1)
    c.refuse("offload.parameters", "not supported yet: cpu without sharding",
             "parallel.sharding: full_shard");
}

void check(Complaints& c, const ResolvedMesh& mesh) {
  check_offload(c, mesh);
  const Fsdp1Sharding sharding = c.scenario.parallel->sharding;
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

constexpr std::string_view k_aliases[] = {"fullyshardeddataparallel", "fully_sharded_data_parallel"};
constexpr LooseName k_loose_names[] = {
    {"fsdp", ""},
    {"full_shard", ""},
    {"shard_grad_op", "parallel.sharding: shard_grad_op"},
    {"hybrid_shard", "parallel.sharding: hybrid_shard and parallel.mesh.replicate"},
    {"hsdp", "parallel.sharding: hybrid_shard and parallel.mesh.replicate"},
};

}  // namespace

extern constexpr StrategyFacts k_fsdp1_facts{
    .framework = Framework::fsdp1,
    .keys = k_keys,
    .aliases = k_aliases,
    .loose_names = k_loose_names,
    .gathers_units = true,
    .casts_units = true,
    .gathers_to_save_shards = true,
    .casts_inputs_by_default = false,  // MixedPrecision.cast_forward_inputs is False
    .float16_scaler = "ShardedGradScaler",
    .why_no_joined_modules = "FullyShardedDataParallel wraps one module at a time",
    .offloads_parameters = true,
    .why_no_optimizer_offload =
        "CPUOffload moves parameters, their gradients and the optimizer's state together",
    .replicates = replicates,
    .check = check,
};

}  // namespace shardlab
