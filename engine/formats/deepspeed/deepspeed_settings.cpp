#include "engine/formats/deepspeed/deepspeed_settings.h"

#include <cmath>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

std::optional<std::int64_t> whole(const ForeignValue* value) {
  return value != nullptr && value->is_integer() ? std::optional(value->integer) : std::nullopt;
}

// The integer that TrainingArguments say, or their default.
std::int64_t trainer_integer(const ImportSubject& s, std::string_view key, std::int64_t absent) {
  return whole(s.in_trainer(key)).value_or(absent);
}

std::optional<std::int64_t> automatic_micro_batch(const ImportSubject& s) {
  if (s.trainer != nullptr) return trainer_integer(s, "per_device_train_batch_size", 8);
  return s.onto != nullptr ? std::optional<std::int64_t>(s.onto->train->micro_batch) : std::nullopt;
}

std::int64_t automatic_accumulation(const ImportSubject& s) {
  if (s.trainer != nullptr) return trainer_integer(s, "gradient_accumulation_steps", 1);
  if (const auto steps = whole(s.in_accelerate("deepspeed_config.gradient_accumulation_steps")))
    return *steps;
  return s.onto != nullptr ? s.onto->train->accumulation : 1;
}

std::string who_fills_in(const ImportSubject& s) {
  return s.trainer != nullptr ? "auto: as TrainingArguments say" : "auto: as the program says, here --onto";
}

// The word of mixed_precision that accelerate is handed: TrainingArguments come before its own file and
// command. Null: nobody says one.
const char* mixed_word(const ImportSubject& s) {
  static constexpr std::pair<std::string_view, const char*> k_known[] = {
      {"bf16", "bf16"}, {"fp8", "bf16"}, {"fp16", "fp16"}, {"no", "no"}};
  for (const char* const flag : {"bf16", "fp16"}) {
    if (is_true(s.in_trainer(flag))) return flag;
  }
  const ForeignValue* const mixed = s.in_accelerate("mixed_precision");
  for (const auto& [said, word] : k_known) {
    if (mixed != nullptr && mixed->is_text() && said.compare(mixed->text) == 0) return word;
  }
  return nullptr;
}

// A section that the file leaves out accelerate adds, enabled, where somebody asks for its dtype
// (DeepSpeedPlugin.set_mixed_precision).
bool is_added(const ImportSubject& s, std::string_view section) {
  const char* const word = mixed_word(s);
  return word != nullptr && section == word && s.in_deepspeed(section) == nullptr;
}

// Whether the file, or whoever fills in its "auto" or adds its section, computes in the dtype.
bool computes_in(const ImportSubject& s, std::string_view section, DType dtype) {
  if (is_added(s, section)) return true;
  const ForeignValue* const value = s.in_deepspeed(fmt::format("{}.enabled", section));
  if (!is_automatic(value)) return is_true(value);
  if (const char* const word = mixed_word(s)) return section == word;
  return s.trainer == nullptr && s.onto != nullptr && s.onto->precision->param == dtype;
}

std::string automatic_note(const ImportSubject& s, const ForeignValue* value) {
  return is_automatic(value) ? who_fills_in(s) : std::string();
}

std::string precision_note(const ImportSubject& s, std::string_view section, const ForeignValue* value) {
  if (!is_added(s, section)) return automatic_note(s, value);
  return fmt::format("the file has no section {}: accelerate adds it, as {} for it", section,
                     is_true(s.in_trainer(section)) ? "TrainingArguments ask" : "mixed_precision asks");
}

// What the Trainer and accelerate fill in by the model's hidden size.
std::optional<std::int64_t> by_hidden_size(const ImportSubject& s, std::string_view key) {
  if (!s.hidden_size) return std::nullopt;
  const std::int64_t h = *s.hidden_size;
  if (key == "reduce_bucket_size") return h * h;
  if (key == "stage3_prefetch_bucket_size")
    return static_cast<std::int64_t>(0.9 * static_cast<double>(h) * static_cast<double>(h));
  if (key == "stage3_param_persistence_threshold") return 10 * h;
  return std::nullopt;
}

// Keys of the section that other settings say, or none.
bool is_zero_setting(std::string_view key) {
  static constexpr std::string_view k_others[] = {"stage",
                                                  "offload_param",
                                                  "offload_optimizer",
                                                  "zenflow",
                                                  "cpu_offload",
                                                  "cpu_offload_param",
                                                  "cpu_offload_use_pin_memory",
                                                  "stage3_gather_fp16_weights_on_model_save",
                                                  "elastic_checkpoint",
                                                  "parameter_alignment"};
  for (const std::string_view other : k_others) {
    if (key == other) return false;
  }
  return true;
}

void add_zero_entry(const ImportSubject& s, const ForeignEntry& entry, YamlNode& map, std::string& note) {
  const ForeignValue& value = entry.value;
  if (value.is_null()) return;
  YamlNode made = as_yaml(value);
  if (is_automatic(&value)) {
    // By HfTrainerDeepSpeedConfig and accelerate: the weights are not gathered unless somebody asks.
    const auto filled = by_hidden_size(s, entry.key);
    made = yaml_scalar(filled ? std::to_string(*filled) : "false");
    made.place = value.place;
    note += fmt::format("{}{} auto: {}", note.empty() ? "" : ", ", entry.key, made.text);
  }
  // A group ends where it holds as many elements or more: with 0 at every parameter, as with 1.
  static constexpr std::string_view k_group = "sub_group_size";
  if (k_group.compare(entry.key) == 0 && value.is_number() && value.number == 0) {
    made = yaml_scalar("1");
    made.place = value.place;
    note +=
        fmt::format("{}sub_group_size 0: every parameter is a group, as with 1", note.empty() ? "" : ", ");
  }
  map.entries.push_back({entry.key, entry.place, std::move(made)});
}

void add_dtype(const ForeignValue* value, std::string key, YamlNode& map) {
  if (value != nullptr && value->is_text())
    map.entries.push_back({std::move(key), value->place, as_yaml(*value)});
}

const ForeignValue* offload_section(const ImportSubject& s, std::string_view section) {
  return s.in_deepspeed(fmt::format("zero_optimization.{}", section));
}

bool names_drive(const ImportSubject& s, std::string_view section) {
  static constexpr std::string_view k_drive = "nvme";
  const ForeignValue* const map = offload_section(s, section);
  const ForeignValue* const device = map == nullptr ? nullptr : map->find("device");
  return device != nullptr && device->is_text() && device->text.compare(k_drive) == 0;
}

// The word of a device; "none" without one. Below stage 3 a drive is host memory (zero/stage_1_and_2.py,
// cpu_offload).
OffloadTarget offload_target(const ImportSubject& s, std::string_view section) {
  const bool of_parameters = section == k_param_section;
  if (of_parameters ? zero_stage(s) != 3 : zero_stage(s) == 0) return OffloadTarget::none;
  const ForeignValue* const map = offload_section(s, section);
  const ForeignValue* const device = map == nullptr ? nullptr : map->find("device");
  if (names_drive(s, section) && zero_stage(s) < 3) return OffloadTarget::cpu;
  if (device != nullptr && device->is_text())
    return parse_word<OffloadTarget>(device->text).value_or(OffloadTarget::none);
  const char* const old =
      of_parameters ? "zero_optimization.cpu_offload_param" : "zero_optimization.cpu_offload";
  return is_true(s.in_deepspeed(old)) ? OffloadTarget::cpu : OffloadTarget::none;
}

}  // namespace

bool in_bfloat16(const ImportSubject& s) {
  return computes_in(s, "bf16", DType::bfloat16);
}
bool in_float16(const ImportSubject& s) {
  return computes_in(s, "fp16", DType::float16);
}

int zero_stage(const ImportSubject& s) {
  const ForeignValue* const section = s.in_deepspeed("zero_optimization");
  if (section != nullptr && section->kind == ForeignValue::Kind::boolean) return section->flag ? 1 : 0;
  return static_cast<int>(whole(s.in_deepspeed("zero_optimization.stage")).value_or(0));
}

DeepspeedBatch deepspeed_batch(const ImportSubject& s) {
  const ForeignValue* const micro_key = s.in_deepspeed("train_micro_batch_size_per_gpu");
  const ForeignValue* const steps_key = s.in_deepspeed("gradient_accumulation_steps");
  const auto whole_batch = whole(s.in_deepspeed("train_batch_size"));
  DeepspeedBatch batch{whole(micro_key), whole(steps_key)};
  if (is_automatic(micro_key)) batch.micro = automatic_micro_batch(s);
  if (is_automatic(steps_key)) batch.accumulation = automatic_accumulation(s);
  if (whole_batch && s.ranks && *s.ranks > 0) {
    if (batch.micro && *batch.micro > 0 && !batch.accumulation) {
      batch.accumulation = *whole_batch / *batch.micro / *s.ranks;
    } else if (!batch.micro) {
      batch.accumulation = batch.accumulation.value_or(1);
      batch.micro = *whole_batch / *s.ranks / *batch.accumulation;
    }
  }
  if (!whole_batch) batch.accumulation = batch.accumulation.value_or(1);
  return batch;
}

ReadBack read_micro_batch(const ImportSubject& s, const ForeignValue* value) {
  const auto micro = deepspeed_batch(s).micro;
  if (!micro) return leave_setting();
  if (value == nullptr)
    return set_setting(std::to_string(*micro), "train_batch_size / (accumulation x ranks)");
  return set_setting(std::to_string(*micro), automatic_note(s, value));
}

ReadBack read_accumulation(const ImportSubject& s, const ForeignValue* value) {
  const auto steps = deepspeed_batch(s).accumulation;
  if (!steps) return leave_setting();
  const bool by_batch = value == nullptr && s.in_deepspeed("train_batch_size") != nullptr;
  return set_setting(std::to_string(*steps),
                     by_batch ? "train_batch_size / (micro-batch x ranks)" : automatic_note(s, value));
}

// The Trainer fills in max_grad_norm, accelerate what its command says, else its own default.
ReadBack read_clipping(const ImportSubject& s, const ForeignValue* value) {
  double norm = 1;
  if (value != nullptr && value->is_number()) norm = value->number;
  const ForeignValue* const of_trainer = s.in_trainer("max_grad_norm");
  const ForeignValue* const of_command = s.in_accelerate("deepspeed_config.gradient_clipping");
  if (is_automatic(value) && of_trainer != nullptr)
    norm = of_trainer->number;
  else if (is_automatic(value) && s.trainer == nullptr && of_command != nullptr && of_command->is_number())
    norm = of_command->number;
  if (norm == 0) return unset_setting();
  return set_setting(format_number(norm), automatic_note(s, value));
}

ReadBack read_bfloat16(const ImportSubject& s, const ForeignValue* value) {
  if (in_float16(s)) return leave_setting();
  return in_bfloat16(s) ? set_setting("bfloat16", precision_note(s, "bf16", value)) : unset_setting();
}

ReadBack read_float16(const ImportSubject& s, const ForeignValue* value) {
  return in_float16(s) ? set_setting("float16", precision_note(s, "fp16", value)) : leave_setting();
}

// A static scale other than 1 scales all the same, by a factor that a scenario does not have.
ReadBack read_scaler_use(const ImportSubject& s, const ForeignValue* value) {
  if (!in_float16(s) || value == nullptr || !value->is_number()) return unset_setting();
  return value->number > 0 ? set_setting("false") : unset_setting();
}

ReadBack read_initial_scale(const ImportSubject& s, const ForeignValue* value) {
  const ForeignValue* const fixed = s.in_deepspeed("fp16.loss_scale");
  if (in_float16(s) && fixed != nullptr && fixed->is_number() && fixed->number > 0)
    return set_setting(format_number(fixed->number));
  const auto power = whole(value);
  if (!in_float16(s) || !power || *power < 0 || *power > 60) return unset_setting();
  return set_setting(format_number(std::exp2(static_cast<double>(*power))));
}

ReadBack read_scale_window(const ImportSubject& s, const ForeignValue* value) {
  if (!in_float16(s)) return unset_setting();
  const auto window = whole(value);
  return set_setting(std::to_string(window.value_or(1000)));
}

ReadBack read_hysteresis(const ImportSubject& s, const ForeignValue* value) {
  const auto given = whole(value);
  return in_float16(s) && given ? set_setting(std::to_string(*given)) : unset_setting();
}

ReadBack read_consecutive_hysteresis(const ImportSubject& s, const ForeignValue* value) {
  return in_float16(s) && is_true(value) ? set_setting("true") : unset_setting();
}

ReadBack read_minimum_scale(const ImportSubject& s, const ForeignValue* value) {
  const bool given = value != nullptr && value->is_number();
  return in_float16(s) && given ? set_setting(format_number(value->number)) : unset_setting();
}

ReadBack read_zero_section(const ImportSubject& s, const ForeignValue* value) {
  const int stage = zero_stage(s);
  if (stage == 0) return unset_setting();
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  std::string note;
  if (value != nullptr) {
    for (const ForeignEntry& entry : value->entries) {
      if (is_zero_setting(entry.key) && has_effect_under(entry.key, stage))
        add_zero_entry(s, entry, map, note);
    }
    if (is_true(value->find("stage3_gather_fp16_weights_on_model_save")) && stage == 3)
      map.entries.push_back({"stage3_gather_16bit_weights_on_model_save", value->place, yaml_scalar("true")});
  }
  add_dtype(s.in_deepspeed("data_types.grad_accum_dtype"), "grad_accum_dtype", map);
  add_dtype(s.in_deepspeed("communication_data_type"), "communication_data_type", map);
  if (map.entries.empty()) return unset_setting();
  return set_setting(std::move(map), note);
}

ReadBack read_offload_device(const ImportSubject& s, std::string_view section) {
  const OffloadTarget target = offload_target(s, section);
  if (target == OffloadTarget::none) return unset_setting();
  if (target == OffloadTarget::cpu && names_drive(s, section))
    return set_setting(std::string(to_string(target)),
                       "below stage 3 DeepSpeed keeps it in host memory, whatever its device says");
  return set_setting(std::string(to_string(target)));
}

// Pinning; keys of what is not offloaded have no effect.
ReadBack read_offload_key(const ImportSubject& s, std::string_view section, const ForeignValue* value) {
  if (offload_target(s, section) == OffloadTarget::none || value == nullptr || value->is_null())
    return value == nullptr ? unset_setting() : leave_setting();
  return set_setting(as_yaml(*value));
}

ReadBack read_staging_buffers(const ImportSubject& s, std::string_view section, const ForeignValue* value) {
  const std::int64_t usual = section == k_param_section ? 5 : 4;
  const auto count = whole(value);
  if (offload_target(s, section) != OffloadTarget::nvme || !count || *count == usual) return unset_setting();
  return set_setting(std::to_string(*count));
}

ReadBack read_drive_path(const ImportSubject& s, std::string_view section, const ForeignValue* value) {
  if (offload_target(s, section) != OffloadTarget::nvme || value == nullptr || value->is_null())
    return unset_setting();
  return set_setting(as_yaml(*value));
}

ReadBack read_overlap(const ImportSubject& s, const ForeignValue* value) {
  const bool on_drive = offload_target(s, k_optimizer_section) == OffloadTarget::nvme;
  return on_drive && is_true(value) ? set_setting("true") : unset_setting();
}

ReadBack read_drive_number(const ImportSubject& s, const ForeignValue* value) {
  const auto number = whole(value);
  if (offload_target(s, k_optimizer_section) != OffloadTarget::nvme || !number) return unset_setting();
  return set_setting(std::to_string(*number));
}

ReadBack read_ratio(const ImportSubject& s, const ForeignValue* value) {
  const bool partly = value != nullptr && value->is_number() && value->number != 1;
  if (!partly || offload_target(s, k_optimizer_section) == OffloadTarget::none) return unset_setting();
  return set_setting(format_number(value->number));
}

}  // namespace shardlab
