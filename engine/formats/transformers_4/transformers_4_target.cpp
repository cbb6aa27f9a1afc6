#include "engine/formats/transformers_4/transformers_4_target.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "engine/base/lower_case.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/transformers/trainer_rules.h"
#include "engine/formats/transformers/trainer_settings.h"
#include "engine/formats/transformers/trainer_target.h"
#include "engine/formats/transformers/trainer_values.h"
#include "engine/formats/transformers/transformers_target.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

// The sharding, whether units follow a policy, and whether parameters live on the host, as words of one text.
ToolValue sharding_words(const Subject& s) {
  if (!is_fsdp(s)) return nullptr;
  std::string words = in_lower_case(sharding_word(s));
  if (policy_word(s) != "NO_WRAP") words += " auto_wrap";
  if (offloads_parameters(s)) words += " offload";
  return words;
}

ToolValue checkpointing_arguments(const Subject& s) {
  if (!checkpoints_outside_fsdp(s)) return nullptr;
  return {{"use_reentrant", s.scenario.activation->reentrant}};
}

constexpr ToolKey k_keys_of_4[] = {
    {"gradient_checkpointing", "", [](const Subject& s) -> ToolValue { return checkpoints_outside_fsdp(s); },
     "false"},
    {"gradient_checkpointing_kwargs", "activation.reentrant", checkpointing_arguments, "reentrant"},
    {"fsdp", "parallel.strategy", sharding_words, "not sharded by FSDP", read_trainer_strategy},
};

// Rows of version 5 that 4.57 has not, or has in another form.
constexpr std::string_view k_of_5[] = {"activation_checkpointing", "activation_checkpointing_kwargs", "fsdp"};

std::span<const ToolKey> argument_keys() {
  static const std::vector<ToolKey> keys = [] {
    std::vector<ToolKey> made;
    std::copy_if(training_argument_keys().begin(), training_argument_keys().end(), std::back_inserter(made),
                 [](const ToolKey& key) {
                   return std::find(std::begin(k_of_5), std::end(k_of_5), key.key) == std::end(k_of_5);
                 });
    made.insert(made.end(), std::begin(k_keys_of_4), std::end(k_keys_of_4));
    return made;
  }();
  return keys;
}

ToolValue prefetch(const Subject& s) {
  return in_lower_case(prefetch_word(s));
}

template <auto Make>
ToolValue flag(const Subject& s) {
  return ToolValue(Make(s));
}

constexpr ToolKey k_fsdp_keys[] = {
    {"transformer_layer_cls_to_wrap", "parallel.wrap.classes", wrapped_class_list,
     "the model's _no_split_modules", read_classes},
    {"min_num_params", "parallel.wrap.min_params", least_wrapped_parameters, "0: by class",
     read_trainer_least},
    {"backward_prefetch", "parallel.prefetch.backward", prefetch, "NO_PREFETCH", read_backward_prefetch},
    {"forward_prefetch", "parallel.prefetch.forward", flag<prefetches_forward>, "false", read_of_version_1},
    {"limit_all_gathers", "parallel.prefetch.limit_all_gathers", flag<limits_gathers>, "true",
     read_of_version_1},
    {"use_orig_params", "parallel.use_orig_params", flag<uses_orig_params>, "true", read_of_version_1},
    {"sync_module_states", "parallel.sync_module_states", flag<loads_on_one_rank>, "true"},
    {"cpu_ram_efficient_loading", "parallel.initialization", flag<loads_on_one_rank>, "false",
     read_trainer_loading},
    {"activation_checkpointing", "activation.checkpoint", flag<checkpoints_layers>, "false",
     read_layer_checkpoints},
};

// Nothing of fsdp_config reaches the plugin's state_dict_type.
std::optional<std::string> state_dict_variable(const Subject& s) {
  if (!is_fsdp(s) || s.scenario.checkpoint->type == CheckpointType::full) return std::nullopt;
  return "export FSDP_STATE_DICT_TYPE=" + state_dict_word(s);
}

// Outside FSDP, whose own rules say it.
std::optional<std::string> every_layer(const Subject& s) {
  const bool skips = checkpoints_outside_fsdp(s) && s.scenario.activation->every > 1;
  return skips ? std::optional<std::string>("1") : std::nullopt;
}

std::optional<std::string> kept_activations(const Subject& s) {
  const bool offloads = s.scenario.activation->offload != OffloadTarget::none;
  return !is_fsdp(s) && offloads ? std::optional<std::string>("none") : std::nullopt;
}

constexpr SettingRule k_rules[] = {
    {"parallel.sharding", k_elsewhere, nullptr, {}},  // among the words of fsdp
    {"checkpoint.type", k_elsewhere, state_dict_variable, "of the shell that starts the ranks"},
    {"activation.every", k_lost, every_layer, "every layer is checkpointed"},
    {"activation.offload", k_lost, kept_activations, "Trainer has no such option before version 5"},
};

TargetRefusal refuses(const Subject& subject) {
  if (framework(subject) == Framework::fsdp2)
    return {"these arguments shard by FSDP1; FSDP2 comes from accelerate's file here (--to accelerate)"};
  return refused_by_trainer(subject);
}

std::vector<ToolTable> tables() {
  return {{argument_keys(), nullptr}, {k_fsdp_keys, is_fsdp, "fsdp_config"}};
}

std::vector<ExportedFile> write(const Subject& subject, std::span<const std::string>) {
  return trainer_files(subject, tables(), "training_args_4");
}

}  // namespace

ExportTarget transformers_4_target() {
  ExportTarget target = trainer_target(tables(), k_rules);
  target.name = "transformers-4";
  target.version = "4.57";
  target.help = "TrainingArguments of Trainer before version 5";
  target.refuses = refuses;
  target.write = write;
  return target;
}

}  // namespace shardlab
