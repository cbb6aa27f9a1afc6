#include "engine/formats/imports/trainer_arguments.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "engine/formats/imports/program_arguments.h"
#include "engine/formats/imports/program_meanings.h"

namespace shardlab {
namespace {

// Names of TrainingArguments that programs with a loop of their own have as well, as the examples of
// accelerate, DeepSpeed and diffusers do.
bool is_common_argument(const std::string& name) {
  static constexpr std::string_view k_common[] = {"output_dir",
                                                  "seed",
                                                  "data_seed",
                                                  "learning_rate",
                                                  "weight_decay",
                                                  "adam_beta1",
                                                  "adam_beta2",
                                                  "adam_epsilon",
                                                  "max_grad_norm",
                                                  "optim",
                                                  "lr_scheduler_type",
                                                  "warmup_steps",
                                                  "max_steps",
                                                  "num_train_epochs",
                                                  "gradient_accumulation_steps",
                                                  "gradient_checkpointing",
                                                  "bf16",
                                                  "fp16",
                                                  "local_rank",
                                                  "dataloader_num_workers",
                                                  "logging_dir",
                                                  "report_to",
                                                  "run_name",
                                                  "project",
                                                  "debug",
                                                  "resume_from_checkpoint",
                                                  "push_to_hub",
                                                  "hub_model_id",
                                                  "hub_token",
                                                  "per_device_eval_batch_size"};
  return std::find(std::begin(k_common), std::end(k_common), name) != std::end(k_common);
}

// Whether the argument shows that the program is the Trainer's. --deepspeed with a file is its own: DeepSpeed
// itself takes a flag of that name.
bool is_of_trainer(const ForeignEntry& entry) {
  static constexpr std::string_view k_deepspeed = "deepspeed";
  if (k_deepspeed.compare(entry.key) == 0)
    return entry.value.is_text() && is_arguments_file(entry.value.text);
  if (is_common_argument(entry.key)) return false;
  return argument_key(entry.key) != nullptr || is_old_argument(entry.key);
}

bool is_or_means(const ForeignEntry& entry, std::string_view name) {
  if (name.compare(entry.key) == 0) return true;
  const std::string near = nearest_argument(entry.key);
  return name.compare(near) == 0 && is_misspelt_argument(entry.key, near);
}

// Programs whose own command is the Trainer's: those of which the table says what they take by themselves.
bool is_program_of_trainer(const LaunchScript& script) {
  return script.launcher == RankStarter::own && !meaning(script.program).unread.empty();
}

}  // namespace

bool is_arguments_file(const std::string& text) {
  return text.ends_with(".json") || text.ends_with(".yaml") || text.ends_with(".yml");
}

const KnownKey* argument_key(const std::string& name) {
  for (const char* version : {"transformers", "transformers-4"}) {
    const auto tool = known_keys(version);
    if (!tool) continue;
    const KnownSection& root = (*tool)->section("root");
    if (const KnownKey* const key = root.find(name)) return key;
  }
  return nullptr;
}

bool is_old_argument(const std::string& name) {
  const auto tool = known_keys("transformers-4");
  return tool && (*tool)->section("root").renamed.contains(name);
}

bool takes_training_arguments(const LaunchScript& script) {
  if (is_program_of_trainer(script)) return true;
  const auto& entries = script.arguments.entries;
  const auto any = [&](auto&& shows) { return std::any_of(entries.begin(), entries.end(), shows); };
  if (any([](const ForeignEntry& entry) { return is_or_means(entry, "per_device_train_batch_size"); }))
    return true;
  return any(is_of_trainer) &&
         any([](const ForeignEntry& entry) { return is_or_means(entry, "output_dir"); });
}

}  // namespace shardlab
