#include "engine/formats/transformers/trainer_rules.h"

#include <fmt/format.h>

#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {
namespace {

using Instead = std::optional<std::string>;
using Subject = ExportSubject;

Instead ignored_variable(const Subject& s) {
  const std::string expression = ignored_expression(s);
  if (!is_fsdp(s) || expression.empty()) return std::nullopt;
  return fmt::format("export FSDP_IGNORED_MODULES='{}'", expression);
}

Instead replicas_line(const Subject& s) {
  const ResolvedMesh mesh = resolve_mesh(s.scenario);
  if (framework(s) != Framework::fsdp2 || mesh.replicate == 1) return std::nullopt;
  return fmt::format(
      "training_args.parallelism_config = ParallelismConfig(dp_replicate_size={}, dp_shard_size={})",
      mesh.replicate, mesh.shard);
}

Instead last_micro_batch(const Subject& s) {
  const bool accumulates = micro_batches_of_step(s.scenario) > 1;
  return accumulates && reduces_every_micro_batch(s.scenario) ? Instead("last") : std::nullopt;
}

Instead bucket_views(const Subject& s) {
  const bool views = framework(s) == Framework::ddp && s.scenario.parallel->ddp.gradient_as_bucket_view;
  return views ? Instead("false") : std::nullopt;
}

// Outside FSDP, whose own rules say what its checkpoints are.
Instead whole_layers(const Subject& s) {
  const bool selective = s.scenario.activation->checkpoint == ActivationCheckpoint::selective;
  return !is_fsdp(s) && selective ? Instead("full") : std::nullopt;
}

Instead scaler_of_accelerate(const Subject& s) {
  const bool scales = mixed_precision(s) == DType::float16 && framework(s) != Framework::deepspeed;
  return scales && *s.scenario.scaler != ScalerSpec{} ? Instead("{}") : std::nullopt;
}

constexpr SettingRule k_trainer_rules[] = {
    {"parallel.wrap.ignored", k_elsewhere, ignored_variable, "of the shell that starts the ranks"},
    {"parallel.mesh", k_elsewhere, replicas_line, "no JSON value stands for it"},
    {"parallel.ddp.gradient_as_bucket_view", k_lost, bucket_views, "Trainer does not pass it on"},
    {"parallel.ddp.first_bucket_size", k_lost, nullptr, {}},  // DistributedDataParallel's own
    {"train.sync", k_lost, last_micro_batch, "Trainer reduces with the last micro-batch"},
    {"activation.checkpoint", k_lost, whole_layers, "layers are checkpointed whole"},
    {"activation.partition", k_lost, nullptr, {}},
    {"scaler", k_lost, scaler_of_accelerate, "Trainer makes accelerate's default scaler"},
    // Full state dicts are collected in host memory, on rank 0.
    {"checkpoint.offload_to_cpu", k_lost, nullptr, {}},
    {"checkpoint.rank0_only", k_lost, nullptr, {}},
};

}  // namespace

std::span<const SettingRule> trainer_rules() {
  return k_trainer_rules;
}

TargetRefusal refused_by_trainer(const ExportSubject& subject) {
  if (framework(subject) == Framework::shardlab)
    return {"this schedule is shardlab's own, Trainer has none like it"};
  if (is_fsdp(subject) && on_processors(subject))
    return {"accelerate 1.15, below Trainer, shards on accelerators alone", "cluster.device"};
  return {};
}

}  // namespace shardlab
