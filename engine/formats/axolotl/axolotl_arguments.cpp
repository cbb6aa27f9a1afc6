#include "engine/formats/axolotl/axolotl_arguments.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/base/dtype.h"
#include "engine/formats/axolotl/axolotl_fsdp.h"
#include "engine/formats/axolotl/axolotl_program.h"
#include "engine/formats/axolotl/axolotl_values.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/launchers/launch_script.h"

namespace shardlab {
namespace {

// Keys of which several say one thing, or one says several; each has a function below.
constexpr std::string_view k_special[] = {"learning_rate",
                                          "optimizer",
                                          "lr_scheduler",
                                          "bf16",
                                          "bfloat16",
                                          "float16",
                                          "fp16",
                                          "warmup_steps",
                                          "warmup_ratio",
                                          "eval_strategy",
                                          "eval_steps",
                                          "gradient_checkpointing",
                                          "torch_compile",
                                          "fsdp",
                                          "fsdp_config",
                                          "fsdp_version",
                                          "lora_target_modules",
                                          "lora_target_linear",
                                          "bnb_config_kwargs",
                                          "dp_shard_size",
                                          "dp_replicate_size",
                                          "tensor_parallel_size",
                                          "context_parallel_size",
                                          "sequence_parallel_degree",
                                          "expert_parallel_size",
                                          "sequence_len",
                                          "micro_batch_size"};
constexpr std::pair<std::string_view, std::string_view> k_renamed[] = {
    {"num_epochs", "num_train_epochs"}, {"eval_batch_size", "per_device_eval_batch_size"}};

const KnownKey* argument_of_5(std::string_view name) {
  const auto tool = known_keys("transformers");
  return tool ? (*tool)->section("root").find(name) : nullptr;
}

// Whether the argument, which takes words, has this one.
bool has_word(std::string_view argument, const std::string& word) {
  const KnownKey* const key = argument_of_5(argument);
  return key != nullptr && std::any_of(key->types.begin(), key->types.end(), [&](const KnownType& type) {
           return std::find(type.words.begin(), type.words.end(), word) != type.words.end();
         });
}

class AxolotlReader {
 public:
  AxolotlReader(const ForeignValue& file, const std::string& model_class, ImportReading& reading)
      : file_(file), model_class_(model_class), reading_(reading) {
    made_.arguments = foreign_map(file.place);
    made_.own = foreign_map(file.place);
  }

  AxolotlArguments read() {
    for (const ForeignEntry& entry : file_.entries) read_plain(entry);
    read_batch_and_rate();
    read_words();
    read_precision();
    read_warmup();
    read_evaluation();
    read_checkpointing();
    read_compilation();
    add_axolotl_fsdp(file_, model_class_, made_.arguments, reading_);
    read_axolotl_degrees(file_, reading_);
    add_axolotl_program(file_, made_.own, reading_);
    return std::move(made_);
  }

 private:
  const ForeignValue* at(std::string_view key) const { return given_value(file_, key); }

  ForeignValue value_of(std::string_view text) const { return value_in(file_, text); }

  void read_plain(const ForeignEntry& entry) {
    const bool is_special =
        std::find(std::begin(k_special), std::end(k_special), entry.key) != std::end(k_special);
    if (is_special || entry.value.is_null()) return;
    static constexpr std::string_view k_tf32 = "tf32";  // takes "auto" as well, and no step depends on it
    if (k_tf32.compare(entry.key) == 0) return add_value(made_.own, entry.key, entry.value);
    for (const auto& [key, argument] : k_renamed) {
      if (key == entry.key) return add_value(made_.arguments, std::string(argument), entry.value);
    }
    add_value(argument_of_5(entry.key) != nullptr ? made_.arguments : made_.own, entry.key, entry.value);
  }

  void read_batch_and_rate() {
    const ForeignValue* const batch = at("micro_batch_size");
    add_value(made_.arguments, "per_device_train_batch_size",
              batch != nullptr ? *batch : left_out(file_, "micro_batch_size", "1", reading_));
    const ForeignValue* const rate = at("learning_rate");
    if (rate == nullptr) return;
    // Its loader makes a number of 2e-5, which YAML reads as text.
    auto number = rate->is_text() ? python_number(rate->text, false) : std::nullopt;
    if (number) number->place = rate->place;
    add_value(made_.arguments, "learning_rate", number ? *number : *rate);
  }

  void read_words() {
    const ForeignValue* const optimizer = at("optimizer");
    if (optimizer != nullptr && has_word("optim", optimizer->text))
      add_value(made_.arguments, "optim", *optimizer);
    else if (optimizer != nullptr)
      list_difference(reading_, "optimizer", DifferenceKind::lost, *optimizer,
                      "a scenario has no such optimizer", "adamw");
    const ForeignValue* const schedule = at("lr_scheduler");
    const bool is_known = schedule != nullptr && has_word("lr_scheduler_type", schedule->text);
    if (schedule != nullptr && !is_known)
      list_difference(reading_, "lr_scheduler", DifferenceKind::lost, *schedule,
                      "a scenario has no such schedule", "cosine");
    add_value(made_.arguments, "lr_scheduler_type", is_known ? *schedule : value_of("cosine"));
  }

  // "auto" is bfloat16 where the devices have it, and they do.
  void read_precision() {
    const bool in_half = is_true(at("fp16")) || is_true(at("float16"));
    const ForeignValue* const said = at("bf16");
    static constexpr std::string_view k_auto = "auto", k_full = "full";
    const bool is_auto = said == nullptr || k_auto.compare(said->text) == 0;
    const bool is_full = said != nullptr && k_full.compare(said->text) == 0;
    const bool is_on = (is_auto && !in_half) || is_true(said) || is_true(at("bfloat16"));
    ForeignValue on = *json_scalar(is_on ? "true" : "false");
    on.place = said != nullptr ? said->place : in_file(file_.place.file);
    if (is_on || is_full) read_stored_dtype(on, is_auto);
    if (in_half && !is_on) {
      list_difference(reading_, "fp16", DifferenceKind::lost, value_of("true"),
                      "axolotl loads the weights in float16", "weights in float32");
      add_value(made_.arguments, "fp16", value_of("true"));
    }
    add_value(made_.arguments, "bf16", std::move(on));
  }

  // Weights are loaded in what is computed in, and stay so, unless DeepSpeed's engine has its own or
  // accelerate makes those that FSDP trains float32 for mixed precision, which Axolotl's own code does not.
  void read_stored_dtype(const ForeignValue& mixed, bool is_auto) {
    const bool is_sharded = at("fsdp") != nullptr || at("fsdp_config") != nullptr;
    if (at("deepspeed") != nullptr) return;
    if (is_sharded && mixed.flag && at("adapter") == nullptr && !shards_itself(file_))
      return put_setting(reading_, "model.dtype", std::string(to_string(DType::float32)), "bf16", mixed,
                         "FSDP trains in float32 what is loaded in bfloat16");
    put_setting(reading_, "model.dtype", std::string(to_string(DType::bfloat16)), "bf16", mixed,
                is_auto ? "auto: the weights are loaded in it" : "the weights are loaded in it");
  }

  // "auto" compiles where torch can.
  void read_compilation() {
    const ForeignValue* const compiles = at("torch_compile");
    if (compiles == nullptr) return;
    ForeignValue on = *json_scalar(compiles->is_text() || compiles->flag ? "true" : "false");
    on.place = compiles->place;
    add_value(made_.arguments, "torch_compile", std::move(on));
  }

  // A part of the training as version 5 of transformers has it: below 1.
  void read_warmup() {
    const ForeignValue* const steps = at("warmup_steps");
    const ForeignValue* const ratio = at("warmup_ratio");
    const ForeignValue* const said = steps != nullptr ? steps : ratio;
    add_value(made_.arguments, "warmup_steps", said != nullptr ? *said : value_of("0.03"));
  }

  // Steps alone ask for evaluation after so many; "no" without quotes is false.
  void read_evaluation() {
    const ForeignValue* const steps = at("eval_steps");
    const ForeignValue* const strategy = at("eval_strategy");
    if (steps != nullptr) add_value(made_.arguments, "eval_steps", *steps);
    if (steps != nullptr)
      add_value(made_.arguments, "eval_strategy", value_of("steps"));
    else if (strategy != nullptr && strategy->is_text())
      add_value(made_.arguments, "eval_strategy", *strategy);
  }

  // "offload" and its like are checkpoints whose inputs wait in host memory.
  void read_checkpointing() {
    const ForeignValue* const said = at("gradient_checkpointing");
    if (said == nullptr) return;
    ForeignValue on = *json_scalar(said->is_text() || said->flag ? "true" : "false");
    on.place = said->place;
    if (said->is_text() && at("activation_offloading") == nullptr)
      add_value(made_.own, "activation_offloading", on);
    add_value(made_.arguments, "gradient_checkpointing", std::move(on));
  }

  const ForeignValue& file_;
  const std::string& model_class_;
  ImportReading& reading_;
  AxolotlArguments made_;
};

}  // namespace

bool is_axolotl(const ForeignValue& root) {
  static constexpr std::string_view k_model = "base_model", k_trainers = "per_device_train_batch_size";
  static constexpr std::string_view k_marks[] = {
      "micro_batch_size", "sequence_len", "num_epochs",          "lora_target_linear", "sample_packing",
      "datasets",         "adapter",      "pad_to_sequence_len", "val_set_size"};
  if (root.find(k_model) == nullptr || root.find(k_trainers) != nullptr) return false;
  return std::any_of(std::begin(k_marks), std::end(k_marks),
                     [&](std::string_view mark) { return root.find(mark) != nullptr; });
}

AxolotlArguments axolotl_arguments(const ForeignValue& file, const std::string& model_class,
                                   ImportReading& reading) {
  return AxolotlReader(file, model_class, reading).read();
}

}  // namespace shardlab
