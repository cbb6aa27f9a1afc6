#include "engine/formats/deepspeed/deepspeed_optimizer.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/parse.h"
#include "engine/formats/deepspeed/deepspeed_settings.h"
#include "engine/formats/transformers/trainer_warmup.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

// A parameter of the optimizer or the schedule: where the file, or the Trainer for "auto", says it.
class Parameters {
 public:
  Parameters(const ImportSubject& subject, std::string section, ImportReading& reading)
      : subject_(subject), section_(std::move(section)), reading_(reading) {}

  const ForeignValue* find(std::string_view name) const {
    return subject_.in_deepspeed(fmt::format("{}.{}", section_, name));
  }

  // `of_trainer`: the key of TrainingArguments; `its_default` and `absent` as scenarios write them.
  void set(std::string key, std::string_view name, std::string_view of_trainer, std::string its_default,
           std::string absent) {
    const ForeignValue* const value = find(name);
    if (value == nullptr) return put(std::move(key), name, yaml_scalar(std::move(absent)), nullptr);
    if (!is_automatic(value)) return put(std::move(key), name, as_yaml(*value), value);
    if (subject_.trainer == nullptr) return;  // who starts the training says it
    const ForeignValue* const said = subject_.in_trainer(of_trainer);
    put(std::move(key), name, said == nullptr ? yaml_scalar(std::move(its_default)) : as_yaml(*said), value);
  }

  void put(std::string key, std::string_view name, YamlNode made, const ForeignValue* value) {
    using Origin = ImportedSetting::Origin;
    ImportedSetting setting;
    setting.key = std::move(key);
    setting.value = std::move(made);
    setting.value.place = value == nullptr ? in_file(subject_.deepspeed->place.file) : value->place;
    setting.origin = value == nullptr ? Origin::assumed : is_automatic(value) ? Origin::filled : Origin::said;
    setting.from = fmt::format("{}.{}", section_, name);
    reading_.set(std::move(setting));
  }

  void lose(std::string_view name, std::string file, std::string scenario, std::string why) {
    const ForeignValue* const value = find(name);
    reading_.differences.push_back(
        {fmt::format("{}.{}", section_, name), DifferenceKind::lost, std::move(file), std::move(scenario),
         std::move(why), value == nullptr ? in_file(subject_.deepspeed->place.file) : value->place});
  }

 private:
  const ImportSubject& subject_;
  std::string section_;
  ImportReading& reading_;
};

void set_betas(const ImportSubject& s, Parameters& params) {
  const ForeignValue* const betas = params.find("betas");
  if (betas == nullptr)
    return params.put("train.betas", "betas", yaml_sequence({yaml_scalar("0.9"), yaml_scalar("0.999")}),
                      nullptr);
  if (!is_automatic(betas)) return params.put("train.betas", "betas", as_yaml(*betas), betas);
  if (s.trainer == nullptr) return;
  const auto beta = [&](const char* key, double absent) {
    const ForeignValue* const said = s.in_trainer(key);
    return yaml_scalar(format_number(said == nullptr ? absent : said->number));
  };
  params.put("train.betas", "betas", yaml_sequence({beta("adam_beta1", 0.9), beta("adam_beta2", 0.999)}),
             betas);
}

// For "auto" the Trainer fills in its warm-up, of one step at least.
void set_warmup(const ImportSubject& s, Parameters& params) {
  static constexpr std::string_view k_setting = "train.schedule.warmup_steps", k_name = "warmup_num_steps";
  const ForeignValue* const value = params.find(k_name);
  if (!is_automatic(value) || s.trainer == nullptr)
    return params.set(std::string(k_setting), k_name, "warmup_steps", "1", "1000");
  const TrainerWarmup warmup = trainer_warmup(s);
  if (!warmup.steps)
    return params.lose(k_name, "\"auto\"", fmt::format("{} as --onto says it", k_setting),
                       why_no_warmup_steps(s, warmup));
  const std::int64_t steps = std::max<std::int64_t>(1, *warmup.steps);
  params.put(std::string(k_setting), k_name, yaml_scalar(std::to_string(steps)), value);
}

// FusedAdam with adam_w_mode, its default, is AdamW.
bool decouples_decay(const ImportSubject& s, std::string_view type) {
  static constexpr std::string_view k_adamw = "adamw";
  if (type == k_adamw) return true;
  const ForeignValue* const mode = s.in_deepspeed("optimizer.params.adam_w_mode");
  return mode == nullptr || mode->flag;
}

}  // namespace

bool is_adam(const ImportSubject& s) {
  static constexpr std::string_view k_adam[] = {"adam", "adamw"};
  const ForeignValue* const type = s.in_deepspeed("optimizer.type");
  if (type == nullptr) return false;
  const std::string name = in_lower_case(type->text);
  return name == k_adam[0] || name == k_adam[1];
}

void read_deepspeed_optimizer(const ImportSubject& s, ImportReading& reading) {
  const ForeignValue* const type = s.in_deepspeed("optimizer.type");
  if (type == nullptr) return;
  Parameters params(s, "optimizer.params", reading);
  if (!is_adam(s)) {
    reading.differences.push_back({"optimizer.type", DifferenceKind::lost, type->text,
                                   "train.optimizer as --onto says it, or its default",
                                   "a scenario has no such optimizer", type->place});
    return;
  }
  const bool decoupled = decouples_decay(s, in_lower_case(type->text));
  Parameters root(s, "optimizer", reading);
  root.put("train.optimizer", "type",
           yaml_scalar(std::string(to_string(decoupled ? Optimizer::adamw : Optimizer::adam))), type);
  if (decoupled && in_lower_case(type->text).size() == 4)
    reading.warnings.push_back(
        {type->place, "optimizer Adam is AdamW here: adam_w_mode is true unless the file says otherwise",
         "adam_w_mode: false adds the decay to the gradient"});
  params.set("train.learning_rate", "lr", "learning_rate", "5e-05", "0.001");
  set_betas(s, params);
  params.set("train.epsilon", "eps", "adam_epsilon", "1e-08", "1e-08");
  params.set("train.weight_decay", "weight_decay", "weight_decay", "0", "0");
}

void read_deepspeed_schedule(const ImportSubject& s, ImportReading& reading) {
  const ForeignValue* const type = s.in_deepspeed("scheduler.type");
  if (type == nullptr) return;
  struct Known {
    std::string_view name;
    ScheduleKind kind;
  };
  static constexpr Known k_known[] = {{"WarmupLR", ScheduleKind::constant},
                                      {"WarmupDecayLR", ScheduleKind::linear},
                                      {"WarmupCosineLR", ScheduleKind::cosine}};
  Parameters params(s, "scheduler.params", reading);
  Parameters root(s, "scheduler", reading);
  for (const Known& known : k_known) {
    if (known.name != type->text) continue;
    const bool ends = known.kind != ScheduleKind::constant;
    const ForeignValue* const total = params.find("total_num_steps");
    const bool is_known = !is_automatic(total) || s.in_trainer("max_steps") != nullptr ||
                          (s.onto != nullptr && s.onto->train->schedule.total_steps > 0);
    if (ends && !is_known) {
      params.lose("total_num_steps", "\"auto\"", "train.schedule as --onto says it",
                  "the Trainer counts the steps of its data");
      return;
    }
    root.put("train.schedule.kind", "type", yaml_scalar(std::string(to_string(known.kind))), type);
    set_warmup(s, params);
    if (ends) params.set("train.schedule.total_steps", "total_num_steps", "max_steps", "1", "1");
    const ForeignValue* const form = params.find("warmup_type");
    static constexpr std::string_view k_linear = "linear";
    if (form == nullptr || k_linear.compare(form->text) != 0)
      params.lose("warmup_type", "log", "linear", "the warm-up of a scenario is linear");
    return;
  }
  root.lose("type", type->text, "train.schedule as --onto says it, or its default",
            "a scenario has no such schedule");
}

}  // namespace shardlab
