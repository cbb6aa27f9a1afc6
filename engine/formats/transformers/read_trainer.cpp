#include "engine/formats/transformers/read_trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/tools/read_table.h"
#include "engine/formats/transformers/trainer_settings.h"
#include "engine/formats/transformers/trainer_warmup.h"
#include "engine/formats/transformers/transformers_target.h"
#include "engine/formats/transformers/unread_arguments.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/train_words.h"

namespace shardlab {
namespace {

class TrainerReader {
 public:
  TrainerReader(const ImportSubject& subject, ImportReading& reading) : s_(subject), reading_(reading) {}

  void read() {
    read_strategy();
    read_optimizer();
    read_autocast();
    read_checkpointing();
    read_schedule();
    read_periods();
    read_length();
    if (fsdp_version(s_) == 1 && trainer_has_fsdp(s_)) read_sharding_words();
  }

 private:
  using Origin = ImportedSetting::Origin;

  void put(std::string key, YamlNode value, std::string_view from, std::string note = {}) {
    const ForeignValue* const said = s_.in_trainer(from);
    ImportedSetting setting;
    setting.key = std::move(key);
    setting.value = std::move(value);
    setting.value.place = said == nullptr ? in_file(s_.trainer->place.file) : said->place;
    setting.origin = said == nullptr ? Origin::assumed : Origin::said;
    setting.from = from;
    setting.note = std::move(note);
    reading_.set(std::move(setting));
  }
  void unset(std::string key, std::string_view from) {
    put(key, {}, from);
    ImportedSetting setting = *reading_.find(key);
    setting.is_set = false;
    reading_.set(std::move(setting));
  }
  void lose(std::string_view key, std::string scenario, std::string why) {
    const ForeignValue* const value = s_.in_trainer(key);
    reading_.differences.push_back({std::string(key), DifferenceKind::lost,
                                    value == nullptr ? "the default" : shown(*value), std::move(scenario),
                                    std::move(why),
                                    value == nullptr ? in_file(s_.trainer->place.file) : value->place});
  }

  // Started by several ranks, the Trainer replicates.
  void read_strategy() {
    if (reading_.find("parallel.strategy") != nullptr || s_.deepspeed != nullptr || !s_.ranks) return;
    put("parallel.strategy", yaml_scalar(strategy_of(*s_.ranks > 1 ? Framework::ddp : Framework::none)),
        "fsdp", "the file has neither fsdp nor deepspeed");
  }

  // The table reads those that a scenario has.
  void read_optimizer() {
    const ForeignValue* const said = s_.in_trainer("optim");
    if (said == nullptr || said->is_null() || s_.in_deepspeed("optimizer.type") != nullptr) return;
    static constexpr std::string_view k_paged = "paged_adamw";
    // DeepSpeed moves the state itself where it offloads it.
    const ForeignValue* const offloaded = s_.in_deepspeed("zero_optimization.offload_optimizer.device");
    const bool stays = offloaded == nullptr || offloaded->text == to_string(OffloadTarget::none);
    if (stays && said->text.starts_with(k_paged))
      put("train.optimizer_paged", yaml_scalar("true"), "optim");
    else
      unset("train.optimizer_paged", "optim");
    if (read_trainer_optimizer(s_, said).kind == ReadBack::Kind::leave)
      lose("optim", "train.optimizer as --onto says it, or its default", "a scenario has no such optimizer");
  }

  void read_autocast() {
    const auto dtype = mixed_dtype(s_);
    if (s_.deepspeed != nullptr || fsdp_version(s_) != 0 || !dtype) return;
    put("precision.autocast", yaml_scalar(std::string(to_string(*dtype))),
        *dtype == DType::bfloat16 ? "bf16" : "fp16");
  }

  // Under FSDP fsdp_config has a key of its own; both together gather twice.
  void read_checkpointing() {
    std::string_view key = "activation_checkpointing", arguments = "activation_checkpointing_kwargs";
    if (s_.in_trainer(key) == nullptr || s_.in_trainer(key)->is_null()) {
      key = "gradient_checkpointing";
      arguments = "gradient_checkpointing_kwargs";
    }
    const bool on = flag_of(s_.in_trainer(key), false);
    const bool by_fsdp =
        trainer_has_fsdp(s_) && flag_of(s_.in_trainer("fsdp_config.activation_checkpointing"), false);
    if (by_fsdp) return;
    if (!on) return unset("activation.checkpoint", key);
    put("activation.checkpoint", yaml_scalar(std::string(to_string(ActivationCheckpoint::full))), key);
    const ForeignValue* const reentrant = s_.in_trainer(std::string(arguments) + ".use_reentrant");
    // Version 4 leaves it to the models, whose default was reentrant.
    if (flag_of(reentrant, s_.trainer_is_4))
      put("activation.reentrant", yaml_scalar("true"), reentrant == nullptr ? key : arguments);
    else
      unset("activation.reentrant", arguments);
    const ForeignValue* const every = s_.in_trainer(std::string(arguments) + ".every_n_layers");
    if (every != nullptr && every->is_integer())
      put("activation.every", as_yaml(*every), arguments);
    else
      unset("activation.every", arguments);
    if (is_true(s_.in_trainer(std::string(arguments) + ".offload")))
      put("activation.offload", yaml_scalar(std::string(to_string(OffloadTarget::cpu))), arguments);
    else
      unset("activation.offload", arguments);
  }

  std::optional<std::int64_t> whole(std::string_view key) const {
    const ForeignValue* const value = s_.in_trainer(key);
    return value != nullptr && value->is_integer() ? std::optional(value->integer) : std::nullopt;
  }

  void read_warmup(const TrainerWarmup& warmup) {
    static constexpr std::string_view k_setting = "train.schedule.warmup_steps";
    if (!warmup.steps)
      lose(warmup.key, fmt::format("{} as --onto says it", k_setting), why_no_warmup_steps(s_, warmup));
    else if (*warmup.steps > 0)
      put(std::string(k_setting), yaml_scalar(std::to_string(*warmup.steps)), warmup.key);
    else
      unset(std::string(k_setting), "warmup_steps");
  }

  void read_schedule() {
    if (s_.in_deepspeed("scheduler.type") != nullptr) return;
    struct Known {
      std::string_view name;
      ScheduleKind kind;
    };
    static constexpr Known k_known[] = {{"linear", ScheduleKind::linear},
                                        {"cosine", ScheduleKind::cosine},
                                        {"constant", ScheduleKind::constant},
                                        {"constant_with_warmup", ScheduleKind::constant}};
    const ForeignValue* const type = s_.in_trainer("lr_scheduler_type");
    const std::string name = type == nullptr ? "linear" : type->text;
    const std::int64_t total = whole("max_steps").value_or(-1);
    for (const Known& known : k_known) {
      if (known.name.compare(name) != 0) continue;
      const bool ends = known.kind != ScheduleKind::constant;
      if (ends && total <= 0) {
        lose("lr_scheduler_type", "train.schedule as --onto says it",
             "its end follows from the length of the data; max_steps says it");
        return;
      }
      if (ends)
        put("train.schedule.kind", yaml_scalar(std::string(to_string(known.kind))), "lr_scheduler_type");
      else
        unset("train.schedule.kind", "lr_scheduler_type");
      if (ends)
        put("train.schedule.total_steps", yaml_scalar(std::to_string(total)), "max_steps");
      else
        unset("train.schedule.total_steps", "max_steps");
      const bool warms = name.compare(to_string(ScheduleKind::constant)) != 0;
      read_warmup(warms ? trainer_warmup(s_) : TrainerWarmup{});
      return;
    }
    lose("lr_scheduler_type", "train.schedule as --onto says it", "a scenario has no such schedule");
  }

  // Saving and evaluating every so many steps.
  void read_periods() {
    static constexpr std::string_view k_steps = "steps", k_never = "no";
    const auto strategy = [&](std::string_view key, std::string_view absent) {
      const ForeignValue* const value = s_.in_trainer(key);
      return std::string(value == nullptr ? absent : std::string_view(value->text));
    };
    const std::string saves = strategy("save_strategy", k_steps);
    const auto every = whole("save_steps");
    if (k_steps.compare(saves) == 0 && (every || s_.in_trainer("save_strategy") != nullptr)) {
      put("train.save.every", yaml_scalar(std::to_string(every.value_or(500))), "save_steps");
      if (const auto keep = whole("save_total_limit"); keep && *keep > 0)
        put("train.save.keep", yaml_scalar(std::to_string(*keep)), "save_total_limit");
      const ForeignValue* const folder = s_.in_trainer("output_dir");
      put("checkpoint.path",
          folder == nullptr || !folder->is_text() ? yaml_scalar("trainer_output", true) : as_yaml(*folder),
          "output_dir");
    } else {
      unset("train.save.every", "save_strategy");
      unset("train.save.keep", "save_total_limit");
      if (k_steps.compare(saves) != 0 && k_never.compare(saves) != 0)
        lose("save_strategy", "never", "a scenario counts steps");
    }
    const std::string evaluates = strategy("eval_strategy", k_never);
    if (const auto count = whole("eval_steps"); k_steps.compare(evaluates) == 0 && count)
      put("train.evaluation.every", yaml_scalar(std::to_string(*count)), "eval_steps");
    else
      unset("train.evaluation.every", "eval_strategy");
    if (k_steps.compare(evaluates) != 0 && k_never.compare(evaluates) != 0)
      lose("eval_strategy", "never", "a scenario counts steps");
  }

  // How long it trains changes no step, and a scenario that says it is refused by real runs.
  void read_length() {
    for (const char* key : {"max_steps", "num_train_epochs"}) {
      const ForeignValue* const value = s_.in_trainer(key);
      if (value != nullptr && value->number > 0)
        reading_.differences.push_back({key, DifferenceKind::elsewhere, shown(*value), "",
                                        "the length of the training, no part of a step", value->place});
    }
    if (const ForeignValue* const old = s_.in_trainer("per_gpu_train_batch_size");
        old != nullptr && old->is_integer() && s_.in_trainer("per_device_train_batch_size") == nullptr)
      put("train.micro_batch", as_yaml(*old), "per_gpu_train_batch_size");
  }

  // Version 4 passes the word on; 5 a value that accelerate's plugin does not look at.
  void read_sharding_words() {
    const auto sharding = s_.trainer_is_4 ? trainer_sharding(s_) : Fsdp1Sharding::full_shard;
    if (!sharding || *sharding == Fsdp1Sharding::full_shard) return unset("parallel.sharding", "fsdp");
    put("parallel.sharding", yaml_scalar(std::string(to_string(*sharding))), "fsdp");
    const bool hybrid =
        *sharding == Fsdp1Sharding::hybrid_shard || *sharding == Fsdp1Sharding::hybrid_shard_zero2;
    if (hybrid && s_.onto != nullptr)
      put("parallel.mesh.replicate", yaml_scalar(std::to_string(s_.onto->cluster->nodes)), "fsdp",
          "every node is a replica");
  }

  const ImportSubject& s_;
  ImportReading& reading_;
};

}  // namespace

void read_trainer(const ImportSubject& subject, ImportReading& reading) {
  std::vector<ToolTable> tables{{training_argument_keys(), nullptr}};
  if (trainer_has_fsdp(subject)) tables.push_back({trainer_fsdp_keys(), nullptr, "fsdp_config"});
  read_tables(tables, *subject.trainer, subject, reading);
  TrainerReader(subject, reading).read();
  list_unread(
      tables, *subject.trainer,
      [&](std::string_view key, const ForeignValue& value) {
        return judge_unread_argument(subject, key, value);
      },
      reading);
}

}  // namespace shardlab
