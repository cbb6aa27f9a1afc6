#include "engine/formats/imports/program_arguments.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/imports/program_meanings.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/train_words.h"

namespace shardlab {
namespace {

bool is_training_argument(const std::string& name) {
  for (const char* version : {"transformers", "transformers-4"}) {
    const auto tool = known_keys(version);
    if (!tool) continue;
    const KnownSection& root = (*tool)->section("root");
    if (root.find(name) != nullptr || root.unread.contains(name) || root.renamed.contains(name)) return true;
  }
  return false;
}

std::optional<ForeignValue> number_of(const ForeignValue& value) {
  if (value.is_number()) return value;
  return value.is_text() && !value.flag ? json_scalar(value.text) : std::nullopt;
}

class ProgramReader {
 public:
  ProgramReader(const ForeignValue& own, ImportReading& reading) : own_(own), reading_(reading) {}

  void read() {
    const bool adapts = trains_adapters(own_);
    if (adapts) read_adapters();
    for (const ForeignEntry& entry : own_.entries) {
      if (means("sequence_length", entry.key))
        read_length(entry);
      else if (means("quantized", entry.key))
        read_quantized(entry);
      else if (means("offloaded_activations", entry.key))
        read_offloaded(entry);
      else if (means("stored_in_bfloat16", entry.key))
        read_stored(entry);
      else if (means("attention", entry.key) || means("stepped_attention", entry.key))
        read_attention(entry);
      else if (means("quantized_scales", entry.key))
        tell(entry, DifferenceKind::elsewhere, "model.quantized says it");
      else if (!is_adapter_key(entry.key))
        list(entry, "");
      else if (!adapts)
        tell(entry, DifferenceKind::elsewhere, "no adapters are trained");
    }
  }

 private:
  static bool is_adapter_key(const std::string& name) {
    return means("adapter", name) || means("adapter_rank", name) || means("adapter_alpha", name) ||
           means("adapter_dropout", name) || means("adapter_targets", name);
  }

  const ForeignEntry* find(std::string_view section) const { return entry_of(own_, section); }

  // Words of QLoRA: the frozen weights have four bits.
  void read_quantized_adapters() {
    for (const ForeignEntry& entry : own_.entries) {
      const bool is_word = means("adapter", entry.key) && entry.value.text == "qlora";
      const bool is_flag = entry.key == "use_qlora" && asks_for_something(entry.value);
      if (is_word || is_flag) set(entry, "model.quantized", yaml_scalar(four_bits(entry.key)));
    }
  }

  // PEFT makes what the embedding gives require gradients, without which reentrant checkpoints have none.
  void drop_reentrant_checkpoints(const ForeignEntry& said) {
    const ImportedSetting* const reentrant = reading_.find("activation.reentrant");
    if (reentrant == nullptr || !reentrant->is_set || !parse_boolean(reentrant->value.text).value_or(false))
      return;
    ImportedSetting setting = *reentrant;
    setting.is_set = false;
    reading_.set(std::move(setting));
    reading_.differences.push_back({"activation.reentrant", DifferenceKind::lost, "true", "false",
                                    "with adapters inputs require gradients, which a scenario does not say",
                                    said.place});
  }

  void read_adapters() {
    read_quantized_adapters();
    const ForeignEntry* const rank = find("adapter_rank");
    const ForeignEntry* const said = rank != nullptr ? rank : find("adapter");
    if (said == nullptr) return;
    drop_reentrant_checkpoints(*said);
    const auto count = rank == nullptr ? std::nullopt : number_of(rank->value);
    if (!count || !count->is_integer() || count->integer < 1)
      return tell(*said, DifferenceKind::lost, "adapters are trained: model.lora says them");
    set(*rank, "model.lora.rank", yaml_scalar(std::to_string(count->integer)));
    if (const ForeignEntry* const alpha = find("adapter_alpha")) {
      if (const auto scale = number_of(alpha->value)) set(*alpha, "model.lora.alpha", as_yaml(*scale));
    }
    if (const ForeignEntry* const dropout = find("adapter_dropout")) {
      if (const auto share = number_of(dropout->value)) set(*dropout, "model.lora.dropout", as_yaml(*share));
    }
    const ForeignEntry* const targets = find("adapter_targets");
    if (targets != nullptr) return read_targets(*targets);
    set(*rank, "model.lora.targets", yaml_sequence({yaml_scalar("all-linear", true)}),
        "the layers are left out: the program chooses");
    reading_.warnings.push_back({rank->place,
                                 "which layers get adapters is left out: all linear ones are taken",
                                 "a program that leaves it to peft has model.lora.targets: [peft-default]"});
  }

  // A list, "q_proj,v_proj", or a word for all linear layers.
  void read_targets(const ForeignEntry& entry) {
    static constexpr std::string_view k_all[] = {"all", "all-linear", "all_linear"};
    std::vector<YamlNode> names;
    const auto add = [&](std::string_view name) {
      const bool all = std::find(std::begin(k_all), std::end(k_all), name) != std::end(k_all);
      if (!name.empty()) names.push_back(yaml_scalar(all ? "all-linear" : std::string(name), true));
    };
    for (const ForeignValue& item : entry.value.items) add(item.text);
    std::string name;
    for (const char c : entry.value.is_text() ? entry.value.text + "," : std::string()) {
      if (c != ',' && c != ' ') {
        name += c;
        continue;
      }
      add(name);
      name.clear();
    }
    if (!names.empty()) set(entry, "model.lora.targets", yaml_sequence(std::move(names)));
  }

  void read_length(const ForeignEntry& entry) {
    const auto length = number_of(entry.value);
    if (!length || !length->is_integer() || length->integer < 1)
      return tell(entry, DifferenceKind::elsewhere, "model.sequence_length says it");
    set(entry, "model.sequence_length", yaml_scalar(std::to_string(length->integer)),
        "the longest sequence, and every one where they are packed or padded to it");
  }

  void read_quantized(const ForeignEntry& entry) {
    if (!asks_for_something(entry.value)) return;
    const auto bits = number_of(entry.value);
    const bool is_8 = entry.key == "load_in_8bit" || (bits && bits->is_integer() && bits->integer == 8);
    set(entry, "model.quantized", yaml_scalar(is_8 ? "int8" : four_bits(entry.key)));
    set(entry, "model.dtype", yaml_scalar("bfloat16"), "what is not quantized is loaded so");
  }

  void read_stored(const ForeignEntry& entry) {
    if (asks_for_something(entry.value))
      set(entry, "model.dtype", yaml_scalar("bfloat16"), "parameters are stored in it, and nothing is cast");
  }

  // Other words name a kernel, which attention is by itself.
  void read_attention(const ForeignEntry& entry) {
    const bool is_switch = means("stepped_attention", entry.key) && asks_for_something(entry.value);
    if (is_switch || means("stepped_attention", entry.value.text))
      return set(entry, "model.attention", yaml_scalar(std::string(to_string(AttentionKind::eager))),
                 "all scores of a layer are in memory");
    tell(entry, DifferenceKind::elsewhere, "model.attention says it");
  }

  // Scales are quantized too where it is asked for. Where nothing is said, TRL (ModelConfig, load_in_4bit)
  // leaves them, LLaMA-Factory (double_quantization), ms-swift (bnb_4bit_use_double_quant) and others do it.
  std::string four_bits(const std::string& switch_name) const {
    const ForeignEntry* const said = find("quantized_scales");
    const bool twice = said != nullptr ? asks_for_something(said->value) : switch_name != "load_in_4bit";
    return twice ? "nf4_double" : "nf4";
  }

  // Programs move all that backward reads; a scenario moves what checkpoints hold.
  void read_offloaded(const ForeignEntry& entry) {
    if (!asks_for_something(entry.value)) return;
    const ImportedSetting* const checkpoint = reading_.find("activation.checkpoint");
    if (checkpoint != nullptr && checkpoint->value.text != to_string(ActivationCheckpoint::none))
      return set(entry, "activation.offload", yaml_scalar("cpu"),
                 "what checkpointed layers hold; the program moves all that backward reads");
    tell(entry, DifferenceKind::lost,
         "a scenario moves what checkpointed layers hold, and none is checkpointed");
  }

  void list(const ForeignEntry& entry, std::string_view otherwise) {
    if (const auto lost = meaning("lost").unread.find(entry.key); lost != meaning("lost").unread.end()) {
      if (!asks_for_something(entry.value)) return;
      if (entry.key == "stage") return list_stage(entry);
      const bool is_one = entry.value.text == "1" && entry.key.ends_with("_parallel_size");
      if (!is_one) tell(entry, DifferenceKind::lost, lost->second);
      return;
    }
    if (const auto known = meaning("elsewhere").unread.find(entry.key);
        known != meaning("elsewhere").unread.end())
      return tell(entry, DifferenceKind::elsewhere, known->second);
    if (means("model", entry.key))
      return tell(entry, DifferenceKind::elsewhere, "model.config says which model is trained");
    if (means("model_dtype", entry.key))
      return tell(entry, DifferenceKind::elsewhere, "model.dtype says how parameters are stored");
    if (means("quiet", entry.key))
      return tell(entry, DifferenceKind::elsewhere, "nothing of a step depends on it");
    tell(entry, DifferenceKind::elsewhere,
         otherwise.empty() ? "an argument of the program's own" : otherwise);
  }

  // LLaMA-Factory's: supervised and pre-training are steps of a scenario.
  void list_stage(const ForeignEntry& entry) {
    static constexpr std::string_view k_next_token[] = {"sft", "pt"};
    const bool is_next = std::find(std::begin(k_next_token), std::end(k_next_token), entry.value.text) !=
                         std::end(k_next_token);
    tell(entry, is_next ? DifferenceKind::elsewhere : DifferenceKind::lost,
         is_next ? "trains on the next token" : "a scenario trains on the next token alone");
  }

  void set(const ForeignEntry& entry, std::string key, YamlNode value, std::string note = {}) {
    ImportedSetting setting;
    setting.key = std::move(key);
    setting.value = std::move(value);
    setting.value.place = entry.value.place;
    setting.from = entry.key;
    setting.note = std::move(note);
    reading_.set(std::move(setting));
  }
  void tell(const ForeignEntry& entry, DifferenceKind kind, std::string_view why) {
    const std::string place_key = entry.key;
    reading_.differences.push_back({place_key, kind, shown(entry.value), "", std::string(why), entry.place});
  }

  const ForeignValue& own_;
  ImportReading& reading_;
};

}  // namespace

bool is_program_argument(const std::string& name) {
  static constexpr std::string_view k_sections[] = {"sequence_length",
                                                    "adapter",
                                                    "adapter_rank",
                                                    "adapter_alpha",
                                                    "adapter_dropout",
                                                    "adapter_targets",
                                                    "quantized",
                                                    "quantized_scales",
                                                    "offloaded_activations",
                                                    "stored_in_bfloat16",
                                                    "model",
                                                    "model_dtype",
                                                    "quiet"};
  if (meaning("elsewhere").unread.contains(name) || meaning("lost").unread.contains(name)) return true;
  return std::any_of(std::begin(k_sections), std::end(k_sections),
                     [&](std::string_view section) { return means(section, name); });
}

bool is_misspelt_argument(const std::string& name, const std::string& near) {
  if (name.size() < 5) return false;
  std::vector<std::size_t> row(near.size() + 1);
  for (std::size_t j = 0; j <= near.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= name.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= near.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (name[i - 1] == near[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back() <= 2;
}

std::string nearest_argument(const std::string& name) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const char* version : {"transformers", "transformers-4"}) {
      if (const auto tool = known_keys(version)) {
        for (const KnownKey& key : (*tool)->section("root").keys) all.push_back(key.name);
      }
    }
    return all;
  }();
  return nearest_name(name, names).value_or("");
}

bool is_number_argument(const std::string& name) {
  for (const char* version : {"transformers", "transformers-4"}) {
    const auto tool = known_keys(version);
    const KnownKey* const key = tool ? (*tool)->section("root").find(name) : nullptr;
    if (key == nullptr) continue;
    return std::all_of(key->types.begin(), key->types.end(), [](const KnownType& type) {
      return type.kind == KnownType::Kind::number || type.kind == KnownType::Kind::null;
    });
  }
  return false;
}

void move_program_arguments(ForeignValue& arguments, ForeignValue& own) {
  const bool is_mixed = std::any_of(arguments.entries.begin(), arguments.entries.end(),
                                    [](const ForeignEntry& entry) { return is_program_argument(entry.key); });
  if (!is_mixed) return;
  std::vector<ForeignEntry> kept;
  for (ForeignEntry& entry : arguments.entries) {
    const std::string near = nearest_argument(entry.key);
    const bool is_slip =
        !is_program_argument(entry.key) && !near.empty() && is_misspelt_argument(entry.key, near);
    if (is_training_argument(entry.key) || is_slip)
      kept.push_back(std::move(entry));
    else
      own.entries.push_back(std::move(entry));
  }
  arguments.entries = std::move(kept);
}

void read_program_arguments(const ForeignValue& own, ImportReading& reading) {
  ProgramReader(own, reading).read();
}

}  // namespace shardlab
