#include "engine/formats/transformers/transformers_target.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/fsdp_rules.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {
namespace {

using Instead = std::optional<std::string>;
using Subject = ExportSubject;

// The plugin of version 1 takes the sharding from this variable before it looks at what Trainer passes.
Instead sharding_variable(const Subject& s) {
  const bool other = s.scenario.parallel->sharding != Fsdp1Sharding::full_shard;
  if (framework(s) != Framework::fsdp1 || !other) return std::nullopt;
  return "export FSDP_SHARDING_STRATEGY=" + sharding_word(s);
}

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

constexpr std::string_view k_environment = "of the shell that starts the ranks";

constexpr SettingRule k_rules[] = {
    {"parallel.sharding", k_elsewhere, sharding_variable, k_environment},
    {"parallel.wrap.ignored", k_elsewhere, ignored_variable, k_environment},
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

TargetRefusal refuses(const ExportSubject& subject) {
  if (framework(subject) == Framework::shardlab)
    return {"this schedule is shardlab's own, Trainer has none like it"};
  if (is_fsdp(subject) && on_processors(subject))
    return {"accelerate 1.15, below Trainer, shards on accelerators alone", "cluster.device"};
  return {};
}

std::vector<ToolTable> tables() {
  return {{training_argument_keys(), nullptr}, {trainer_fsdp_keys(), is_fsdp, "fsdp_config"}};
}

std::vector<ExportedFile> write(const ExportSubject& subject, std::span<const std::string>) {
  const ToolValue tree = tool_tree(tables(), subject);
  std::vector<ExportedFile> files{{subject.stem + ".training_args.json", tree.dump(2) + "\n"}};
  if (by_deepspeed(subject)) files.push_back(deepspeed_file(subject));
  return files;
}

}  // namespace

ExportTarget transformers_target() {
  std::vector<ToolTable> keys = tables();
  keys.push_back({deepspeed_keys(), by_deepspeed});
  return {"transformers",
          "5.23",
          "TrainingArguments of Trainer",
          refuses,
          std::move(keys),
          {k_rules, fsdp_sharding_rules(), fsdp_precision_rules(), program_rules(), launched_rules(),
           unspoken_rules()},
          write};
}

}  // namespace shardlab
