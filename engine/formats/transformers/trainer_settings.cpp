#include "engine/formats/transformers/trainer_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/parse.h"
#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/hardware/device_kind.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/train_words.h"

namespace shardlab {
namespace {

constexpr std::string_view k_by_class = "TRANSFORMER_BASED_WRAP";
constexpr std::string_view k_by_size = "SIZE_BASED_WRAP";

bool by_deepspeed(const ImportSubject& s) {
  return s.deepspeed != nullptr;
}

ReadBack number_or(const ForeignValue* value, std::string absent) {
  return value == nullptr || !value->is_number() ? set_setting(std::move(absent))
                                                 : set_setting(as_yaml(*value));
}

std::int64_t least_of(const ImportSubject& s) {
  const ForeignValue* const least = s.in_trainer("fsdp_config.min_num_params");
  return least != nullptr && least->is_integer() ? least->integer : 0;
}

// In 4.x the policy follows from the word auto_wrap and from what is given for it.
std::string_view policy_of(const ImportSubject& s, const ForeignValue* value) {
  if (!s.trainer_is_4)
    return value != nullptr && value->is_text() ? std::string_view(value->text) : k_by_class;
  if (!has_fsdp_word(s, "auto_wrap")) return "NO_WRAP";
  return least_of(s) > 0 ? k_by_size : k_by_class;
}

}  // namespace

std::vector<std::string> fsdp_words(const ImportSubject& s) {
  std::vector<std::string> words;
  const ForeignValue* const fsdp = s.in_trainer("fsdp");
  if (fsdp == nullptr) return words;
  for (const ForeignValue& item : fsdp->items) words.push_back(item.text);
  std::string word;
  for (const char c : fsdp->is_text() ? fsdp->text + " " : std::string()) {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

bool has_fsdp_word(const ImportSubject& s, std::string_view word) {
  const std::vector<std::string> words = fsdp_words(s);
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<Fsdp1Sharding> trainer_sharding(const ImportSubject& s) {
  for (const std::string& word : fsdp_words(s)) {
    if (const auto sharding = parse_word<Fsdp1Sharding>(word)) return sharding;
  }
  return Fsdp1Sharding::full_shard;
}

ReadBack read_trainer_batch(const ImportSubject& s, const ForeignValue* value) {
  return by_deepspeed(s) ? leave_setting() : number_or(value, "8");
}

ReadBack read_trainer_accumulation(const ImportSubject& s, const ForeignValue* value) {
  return by_deepspeed(s) ? leave_setting() : number_or(value, "1");
}

ReadBack read_trainer_optimizer(const ImportSubject& s, const ForeignValue* value) {
  if (s.in_deepspeed("optimizer.type") != nullptr) return leave_setting();
  static constexpr std::pair<std::string_view, Optimizer> k_known[] = {
      {"adamw_torch", Optimizer::adamw},
      {"adamw_torch_fused", Optimizer::adamw},
      {"sgd", Optimizer::sgd},
      {"adafactor", Optimizer::adafactor},
      {"adamw_bnb_8bit", Optimizer::adamw_8bit},
      {"adamw_8bit", Optimizer::adamw_8bit},
      {"paged_adamw", Optimizer::adamw},
      {"paged_adamw_32bit", Optimizer::adamw},
      {"paged_adamw_8bit", Optimizer::adamw_8bit}};
  if (value == nullptr) return set_setting(std::string(to_string(Optimizer::adamw)));
  for (const auto& [word, optimizer] : k_known) {
    if (word.compare(value->text) == 0) return set_setting(std::string(to_string(optimizer)));
  }
  return leave_setting();
}

ReadBack read_learning_rate(const ImportSubject& s, const ForeignValue* value) {
  return s.in_deepspeed("optimizer.type") != nullptr ? leave_setting() : number_or(value, "5e-05");
}

ReadBack read_weight_decay(const ImportSubject& s, const ForeignValue* value) {
  return s.in_deepspeed("optimizer.type") != nullptr ? leave_setting() : number_or(value, "0");
}

ReadBack read_betas(const ImportSubject& s, const ForeignValue* value) {
  if (s.in_deepspeed("optimizer.type") != nullptr) return leave_setting();
  const ForeignValue* const second = s.in_trainer("adam_beta2");
  if (value == nullptr && second == nullptr) return unset_setting();
  return set_setting(yaml_sequence({yaml_scalar(format_number(value == nullptr ? 0.9 : value->number)),
                                    yaml_scalar(format_number(second == nullptr ? 0.999 : second->number))}));
}

ReadBack read_epsilon(const ImportSubject& s, const ForeignValue* value) {
  return s.in_deepspeed("optimizer.type") != nullptr ? leave_setting() : same_value(s, value);
}

ReadBack read_max_norm(const ImportSubject& s, const ForeignValue* value) {
  if (by_deepspeed(s)) return leave_setting();
  const double norm = value == nullptr || !value->is_number() ? 1 : value->number;
  return norm == 0 ? unset_setting() : set_setting(format_number(norm));
}

ReadBack read_trainer_seed(const ImportSubject&, const ForeignValue* value) {
  return number_or(value, "42");
}

// Under FSDP of the units; outside it is autocast, see read_trainer().
ReadBack read_trainer_bf16(const ImportSubject& s, const ForeignValue*) {
  if (by_deepspeed(s)) return leave_setting();
  const auto dtype = mixed_dtype(s);
  return dtype && fsdp_version(s) != 0 ? set_setting(std::string(to_string(*dtype))) : unset_setting();
}

ReadBack read_trainer_compile(const ImportSubject&, const ForeignValue* value) {
  if (value == nullptr) return leave_setting();
  return flag_of(value, false) ? set_setting(std::string(to_string(CompileScope::whole))) : unset_setting();
}

ReadBack read_workers(const ImportSubject& s, const ForeignValue* value) {
  return same_value(s, value);
}

ReadBack read_pinned_batches(const ImportSubject& s, const ForeignValue* value) {
  return same_value(s, value);
}

ReadBack read_trainer_cpu(const ImportSubject& s, const ForeignValue* value) {
  const bool on = flag_of(value, false) || flag_of(s.in_trainer("no_cuda"), false);
  return on ? set_setting(std::string(to_string(DeviceKind::cpu))) : leave_setting();
}

ReadBack read_bucket_size(const ImportSubject& s, const ForeignValue* value) {
  if (by_deepspeed(s) || fsdp_version(s) != 0 || value == nullptr || !value->is_integer())
    return leave_setting();
  return set_setting(fmt::format("{}MiB", value->integer));
}

ReadBack read_ddp_flag(const ImportSubject& s, const ForeignValue* value) {
  if (by_deepspeed(s) || fsdp_version(s) != 0 || value == nullptr || value->is_null()) return leave_setting();
  return same_value(s, value);
}

ReadBack read_ddp_timeout(const ImportSubject&, const ForeignValue* value) {
  return set_setting(fmt::format("{}s", value != nullptr && value->is_integer() ? value->integer : 1800));
}

// True is the last checkpoint of output_dir, which a scenario does not look for.
ReadBack read_resume(const ImportSubject&, const ForeignValue* value) {
  static constexpr std::string_view k_last[] = {"True", "true", "False", "false"};
  if (value == nullptr || !value->is_text()) return unset_setting();
  if (std::find(std::begin(k_last), std::end(k_last), value->text) != std::end(k_last))
    return unset_setting();
  return set_setting(as_yaml(*value));
}

ReadBack read_trainer_strategy(const ImportSubject& s, const ForeignValue*) {
  const int version = trainer_has_fsdp(s) ? fsdp_version(s) : 0;
  if (version != 0) return set_setting(strategy_of(version == 1 ? Framework::fsdp1 : Framework::fsdp2));
  return leave_setting();
}

ReadBack read_trainer_resharding(const ImportSubject& s, const ForeignValue* value) {
  if (value == nullptr && has_fsdp_word(s, to_string(Fsdp1Sharding::shard_grad_op)) && fsdp_version(s) == 2)
    return set_setting("false");
  return read_resharding(s, value);
}

ReadBack read_trainer_offload(const ImportSubject& s, const ForeignValue* value) {
  if (value == nullptr && has_fsdp_word(s, "offload"))
    return set_setting(std::string(to_string(OffloadTarget::cpu)), "the word offload in fsdp");
  return read_parameter_offload(s, value);
}

ReadBack read_trainer_policy(const ImportSubject& s, const ForeignValue* value) {
  const std::string_view word = policy_of(s, value);
  const ForeignValue chosen = foreign_text(std::string(word), {});
  ReadBack read = read_policy(&chosen, k_by_class, least_of(s));
  if (s.trainer_is_4 && read.kind == ReadBack::Kind::set && read.note.empty())
    read.note = has_fsdp_word(s, "auto_wrap") ? "min_num_params" : "no word auto_wrap in fsdp: one unit";
  return read;
}

ReadBack read_trainer_least(const ImportSubject& s, const ForeignValue* value) {
  const bool by_size = policy_of(s, s.in_trainer("fsdp_config.auto_wrap_policy")) == k_by_size;
  return by_size && value != nullptr && least_of(s) > 0 ? same_value(s, value) : unset_setting();
}

ReadBack read_trainer_loading(const ImportSubject&, const ForeignValue* value) {
  return read_loading(value, false);
}

ReadBack read_trainer_state_dict(const ImportSubject&, const ForeignValue* value) {
  return read_state_dict(value, CheckpointType::full);
}

}  // namespace shardlab
