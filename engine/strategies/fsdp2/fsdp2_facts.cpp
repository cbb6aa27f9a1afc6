// What a scenario asks about `fully_shard`.
#include "engine/scenario/complaints.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// Its MixedPrecisionPolicy has no buffer dtype.
constexpr std::string_view k_keys[] = {
    "parallel.reshard_after_forward",
    "parallel.reshard_after_backward",
    "parallel.requires_all_reduce",
    "parallel.wrap",
    "parallel.prefetch.forward_depth",
    "parallel.prefetch.backward_depth",
    "precision.output",
    "precision.cast_forward_inputs",
};

void check(Complaints& c, const ResolvedMesh& mesh) {
  const ParallelSpec& parallel = *c.scenario.parallel;
  const TrainSpec& train = *c.scenario.train;
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

constexpr std::string_view k_aliases[] = {"fully_shard"};
constexpr LooseName k_loose_names[] = {
    {"fsdp", ""},
    {"hsdp", "parallel.mesh.replicate, the number of copies"},
};

}  // namespace

extern constexpr StrategyFacts k_fsdp2_facts{
    .framework = Framework::fsdp2,
    .keys = k_keys,
    .aliases = k_aliases,
    .loose_names = k_loose_names,
    .gathers_units = true,
    .casts_units = true,
    .saves_by_parameter = true,
    .offloads_parameters = true,
    .why_no_optimizer_offload =
        "CPUOffloadPolicy moves parameters, their gradients and the optimizer's state together",
    .check = check,
};

}  // namespace shardlab
