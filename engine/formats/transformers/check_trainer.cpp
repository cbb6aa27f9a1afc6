#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/nearest.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/transformers/read_trainer.h"
#include "engine/formats/transformers/trainer_settings.h"

namespace shardlab {
namespace {

// The first key that one version has and the other has not.
const ForeignEntry* key_of_one(const ForeignValue& arguments, const char* version, const char* other) {
  const auto has = known_keys(version);
  const auto lacks = known_keys(other);
  if (!has || !lacks) return nullptr;
  for (const ForeignEntry& entry : arguments.entries) {
    if ((*has)->section("root").find(entry.key) != nullptr &&
        (*lacks)->section("root").find(entry.key) == nullptr)
      return &entry;
  }
  return nullptr;
}

class TrainerChecker {
 public:
  TrainerChecker(const ImportSubject& subject, Problems& problems, ImportReading& reading)
      : s_(subject), problems_(problems), reading_(reading) {}

  void check() {
    const ForeignValue* const bf16 = s_.in_trainer("bf16");
    if (flag_of(bf16, false) && flag_of(s_.in_trainer("fp16"), false))
      problems_.add(s_.in_trainer("fp16")->place, "fp16 and bf16 are both on, and the Trainer refuses that",
                    "bf16 is on at " + to_string(bf16->place));
    check_words();
    if (trainer_has_fsdp(s_)) check_fsdp();
    if (!trainer_has_fsdp(s_) && s_.in_trainer("fsdp_config") != nullptr &&
        !s_.in_trainer("fsdp_config")->is_null())
      warn(s_.in_trainer("fsdp_config")->place, "fsdp_config has no effect without fsdp",
           s_.trainer_is_4 ? "fsdp: \"full_shard auto_wrap\"" : "fsdp: true", ErrorCode::no_effect);
    check_against_deepspeed();
  }

 private:
  const ForeignValue* fsdp(const std::string& key) const { return s_.in_trainer("fsdp_config." + key); }
  void warn(const Place& place, std::string what, std::string hint, ErrorCode code = ErrorCode::none) {
    reading_.warnings.push_back({place, std::move(what), std::move(hint), code});
  }

  void check_words() {
    const ForeignValue* const fsdp_key = s_.in_trainer("fsdp");
    if (fsdp_key == nullptr) return;
    std::vector<std::string> known{"offload", "auto_wrap"};
    for (const auto& word : k_words<Fsdp1Sharding>) known.emplace_back(word.text);
    std::vector<std::string> strategies;
    for (const std::string& word : fsdp_words(s_)) {
      if (std::find(known.begin(), known.end(), word) == known.end())
        problems_.add(fsdp_key->place, fmt::format("fsdp: unknown word '{}'", word), suggestion(word, known));
      if (parse_word<Fsdp1Sharding>(word)) strategies.push_back(word);
    }
    if (strategies.size() > 1)
      problems_.add(fsdp_key->place,
                    fmt::format("fsdp: {} exclude each other", fmt::join(strategies, " and ")),
                    "give one of them");
    if (strategies.empty() && !fsdp_words(s_).empty() && s_.trainer_is_4)
      problems_.add(fsdp_key->place,
                    fmt::format("fsdp: '{}' alone names no sharding", fmt::join(fsdp_words(s_), " ")),
                    "full_shard or shard_grad_op beside it");
  }

  void check_fsdp() {
    const ForeignValue* const key = s_.in_trainer("fsdp");
    if (s_.trainer_is_4) {
      warn(key->place,
           "fsdp with words is the form of transformers 4.x, read as version 4.57.6 runs it: FSDP1",
           "under transformers 5 FSDP2 runs unless fsdp_config says version 1");
      check_version_4(key->place);
      return;
    }
    check_version_5();
  }

  void check_version_4(const Place& place) {
    const ForeignValue* const classes = fsdp("transformer_layer_cls_to_wrap");
    const ForeignValue* const least = fsdp("min_num_params");
    if (!has_fsdp_word(s_, "auto_wrap"))
      warn(place, "fsdp without the word auto_wrap: the whole model is one unit",
           classes != nullptr || least != nullptr
               ? "what fsdp_config says of wrapping has no effect; add auto_wrap"
               : "add auto_wrap",
           ErrorCode::no_auto_wrap);
    if (classes != nullptr && least != nullptr && least->integer > 0)
      problems_.add(least->place, "min_num_params and transformer_layer_cls_to_wrap exclude each other",
                    "the Trainer refuses both");
    check_common("NO_PREFETCH");
    warn_about_gradient_checkpointing();
  }

  void check_version_5() {
    const int version = fsdp_version(s_);
    const ForeignValue* const reshard = fsdp("reshard_after_forward");
    if (version == 2 && reshard != nullptr && reshard->kind != ForeignValue::Kind::boolean)
      problems_.add(reshard->place,
                    fmt::format("reshard_after_forward: {} is of version 1, version 2 takes true or false",
                                shown(*reshard)),
                    "full_shard is true, shard_grad_op is false");
    if (version == 1 && reshard != nullptr && reshard->kind == ForeignValue::Kind::boolean)
      problems_.add(reshard->place,
                    "reshard_after_forward: version 1 takes full_shard or shard_grad_op, not a boolean");
    if (version == 1 && reshard != nullptr && reshard->is_text() &&
        sharding_called(*reshard) != Fsdp1Sharding::full_shard)
      warn(reshard->place,
           fmt::format("FULL_SHARD runs, not {}: accelerate's plugin takes FSDP_SHARDING_STRATEGY of the "
                       "environment first, and that is FULL_SHARD where it is unset",
                       reshard->text),
           "export FSDP_SHARDING_STRATEGY=" + reshard->text, ErrorCode::sharding_ignored);
    if (version == 2) {
      for (const char* key : {"forward_prefetch", "backward_prefetch", "use_orig_params",
                              "sync_module_states", "limit_all_gathers"}) {
        if (fsdp(key) != nullptr)
          warn(fsdp(key)->place, fmt::format("{} is of version 1: version 2 ignores it", key), "remove it",
               ErrorCode::unread_key);
      }
      for (const std::string& word : fsdp_words(s_)) {
        const auto sharding = parse_word<Fsdp1Sharding>(word);
        if (sharding && *sharding != Fsdp1Sharding::full_shard && *sharding != Fsdp1Sharding::shard_grad_op)
          problems_.add(s_.in_trainer("fsdp")->place, fmt::format("fsdp: {} is for version 1 alone", word),
                        "fsdp_config: {\"version\": 1}");
      }
    } else {
      check_common("NO_PREFETCH");
    }
    const ForeignValue* const type = fsdp("state_dict_type");
    static constexpr std::string_view k_local = "LOCAL_STATE_DICT";
    if (version == 2 && type != nullptr && type->text.compare(k_local) == 0)
      problems_.add(type->place, "state_dict_type: LOCAL_STATE_DICT is of version 1",
                    "SHARDED_STATE_DICT or FULL_STATE_DICT");
    static constexpr std::string_view k_by_size = "SIZE_BASED_WRAP";
    const ForeignValue* const policy = fsdp("auto_wrap_policy");
    const ForeignValue* const least = fsdp("min_num_params");
    if (policy != nullptr && policy->text.compare(k_by_size) == 0 &&
        (least == nullptr || least->integer == 0))
      warn(policy->place, "SIZE_BASED_WRAP without min_num_params: the whole model is one unit",
           "min_num_params: 100000000", ErrorCode::wraps_nothing);
    warn_about_gradient_checkpointing();
  }

  void check_common(const char* absent) {
    if (fsdp("backward_prefetch") == nullptr)
      warn(s_.in_trainer("fsdp")->place,
           fmt::format("backward_prefetch is left out: {} runs, where plain FSDP has BACKWARD_PRE", absent),
           "backward_prefetch: backward_pre", ErrorCode::prefetch_left_out);
    const ForeignValue* const sync = fsdp("sync_module_states");
    if (sync != nullptr && !flag_of(sync, true) && flag_of(fsdp("cpu_ram_efficient_loading"), false))
      problems_.add(sync->place, "cpu_ram_efficient_loading needs sync_module_states: true",
                    "write it, or load on every rank");
  }

  void warn_about_gradient_checkpointing() {
    const ForeignValue* key = s_.in_trainer("gradient_checkpointing");
    if (key == nullptr) key = s_.in_trainer("activation_checkpointing");
    if (flag_of(key, false))
      warn(key->place, "checkpoints of the Trainer under FSDP gather every layer once more in backward",
           "fsdp_config: {\"activation_checkpointing\": true} instead", ErrorCode::gathers_once_more);
  }

  // A program with arguments of its own may have another default, or no Trainer.
  void refuse_or_warn(bool is_default, const Place& place, std::string what, std::string hint) {
    if (is_default && s_.has_program)
      warn(place, what + ", unless the program has a default of its own", std::move(hint));
    else
      problems_.add(place, std::move(what), std::move(hint));
  }

  // What DeepSpeed's file says otherwise the Trainer refuses.
  void check_against_deepspeed() {
    if (s_.deepspeed == nullptr || s_.calls_deepspeed) return;
    struct Pair {
      const char* deepspeed;
      const char* trainer;
      double absent;
    };
    static constexpr Pair k_pairs[] = {{"train_micro_batch_size_per_gpu", "per_device_train_batch_size", 8},
                                       {"gradient_accumulation_steps", "gradient_accumulation_steps", 1},
                                       {"gradient_clipping", "max_grad_norm", 1},
                                       {"optimizer.params.lr", "learning_rate", 5e-5},
                                       {"optimizer.params.eps", "adam_epsilon", 1e-8},
                                       {"optimizer.params.weight_decay", "weight_decay", 0}};
    for (const Pair& pair : k_pairs) {
      const ForeignValue* const zero = s_.in_deepspeed(pair.deepspeed);
      const ForeignValue* const own = s_.in_trainer(pair.trainer);
      if (zero == nullptr || !zero->is_number()) continue;
      const double expected = own == nullptr ? pair.absent : own->number;
      if (zero->number != expected)
        refuse_or_warn(own == nullptr, zero->place,
                       fmt::format("{} {} is not TrainingArguments' {} {}, and the Trainer refuses that",
                                   pair.deepspeed, shown(*zero), pair.trainer,
                                   own == nullptr ? fmt::format("{}", expected) : shown(*own)),
                       fmt::format("\"auto\" takes the Trainer's{}",
                                   own == nullptr ? "" : ", at " + to_string(own->place)));
    }
    for (const auto& [section, key] :
         {std::pair{"bf16.enabled", "bf16"}, std::pair{"fp16.enabled", "fp16"}}) {
      const ForeignValue* const zero = s_.in_deepspeed(section);
      if (zero == nullptr || zero->kind != ForeignValue::Kind::boolean) continue;
      const ForeignValue* const own = s_.in_trainer(key);
      if (zero->flag != flag_of(own, false))
        refuse_or_warn(
            own == nullptr, zero->place,
            fmt::format("{} {} is not TrainingArguments' {} {}, and the Trainer refuses that", section,
                        zero->flag ? "true" : "false", key, flag_of(own, false) ? "true" : "false"),
            "\"auto\" takes the Trainer's");
    }
  }

  const ImportSubject& s_;
  Problems& problems_;
  ImportReading& reading_;
};

}  // namespace

std::string_view trainer_version(const ForeignValue& arguments, Problems& problems) {
  const ForeignEntry* const of_5 = key_of_one(arguments, "transformers", "transformers-4");
  const ForeignEntry* const of_4 = key_of_one(arguments, "transformers-4", "transformers");
  if (of_5 != nullptr && of_4 != nullptr)
    problems.add(of_4->place,
                 fmt::format("'{}' is of transformers 4.x, '{}' of version 5: no version has both", of_4->key,
                             of_5->key),
                 fmt::format("{} is at {}", of_5->key, to_string(of_5->place)));
  const ForeignValue* const fsdp = arguments.find("fsdp");
  const bool has_words = fsdp != nullptr && ((fsdp->is_text() && !fsdp->text.empty()) || fsdp->is_list());
  const ForeignValue* const version = arguments.find("fsdp_config.version");
  if (of_5 == nullptr && (of_4 != nullptr || (has_words && version == nullptr))) return "transformers-4";
  return "transformers";
}

void check_trainer(const ImportSubject& subject, Problems& problems, ImportReading& reading) {
  TrainerChecker(subject, problems, reading).check();
}

}  // namespace shardlab
