#include "engine/formats/transformers/transformers_target.h"

#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/transformers/trainer_target.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"

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

// Nothing of fsdp_config reaches this option of the plugin.
Instead offload_variable(const Subject& s) {
  if (framework(s) != Framework::fsdp2 || !offloads_checkpoints(s)) return std::nullopt;
  return "export FSDP_ACTIVATION_CHECKPOINTING_OFFLOAD=true";
}

// Outside FSDP it goes with the checkpoints; within, the plugin's rules say it.
Instead kept_activations(const Subject& s) {
  const bool offloads = s.scenario.activation->offload != OffloadTarget::none;
  return !is_fsdp(s) && offloads && !checkpoints_layers(s) ? Instead("none") : std::nullopt;
}

constexpr std::string_view k_environment = "of the shell that starts the ranks";

constexpr SettingRule k_rules[] = {
    {"parallel.sharding", k_elsewhere, sharding_variable, k_environment},
    {"activation.offload", k_elsewhere, offload_variable, k_environment},
    {"activation.offload", k_lost, kept_activations, "only checkpointed layers can be offloaded"},
};

std::vector<ToolTable> tables() {
  return {{training_argument_keys(), nullptr}, {trainer_fsdp_keys(), is_fsdp, "fsdp_config"}};
}

std::vector<ExportedFile> write(const Subject& subject, std::span<const std::string>) {
  return trainer_files(subject, tables(), "training_args");
}

}  // namespace

ExportTarget transformers_target() {
  ExportTarget target = trainer_target(tables(), k_rules);
  target.name = "transformers";
  target.version = "5.23";
  target.help = "TrainingArguments of Trainer";
  target.write = write;
  return target;
}

}  // namespace shardlab
