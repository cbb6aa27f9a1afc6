#include "engine/formats/imports/program_defaults.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "engine/formats/imports/program_arguments.h"
#include "engine/formats/imports/program_meanings.h"

namespace shardlab {
namespace {

// What a program takes that is not said.
class ProgramDefaults {
 public:
  ProgramDefaults(std::string program, ForeignValue& own, ForeignValue& arguments, ImportReading& reading)
      : program_(std::move(program)), own_(own), arguments_(arguments), reading_(reading) {}

  void add_argument(const std::string& key, const std::string& text) {
    static constexpr std::string_view k_checkpoints = "gradient_checkpointing", k_mixed = "bf16";
    const ForeignValue* const off = own_.find("disable_gradient_checkpointing");
    if (arguments_.find(key) != nullptr) return;
    if (k_checkpoints.compare(key) == 0 && off != nullptr && asks_for_something(*off)) return;
    if (k_mixed.compare(key) == 0) return add_precision(key, text);
    add(key, text);
  }

  // Without a word of the switch the first row is one; the others are of adapters that are trained.
  void add_adapters() {
    const KnownSection& known = meaning(program_ + " adapters");
    for (const auto& [key, text] : known.unread) {
      if (means("adapter", key) && !says("adapter")) add_own(key, text);
    }
    if (!trains_adapters(own_)) return;
    for (const auto& [key, text] : known.unread) {
      if (means("adapter_rank", key) && !says("adapter_rank")) add_own(key, text);
      if (means("adapter_alpha", key) && !says("adapter_alpha")) add_own(key, text);
      if (means("adapter_dropout", key) && !says("adapter_dropout")) add_own(key, text);
      if (means("adapter_targets", key) && !says("adapter_targets")) add_own(key, text);
      if (!is_program_argument(key)) add_argument(key, text);
    }
  }

 private:
  // ms-swift takes float16 where weights are stored in it or in float32.
  void add_precision(const std::string& key, const std::string& text) {
    static constexpr std::string_view k_swift = "swift", k_half = "fp16";
    static constexpr std::string_view k_others[] = {"float16", "float32"};
    const ForeignValue* const half = arguments_.find(k_half);
    if (half != nullptr && asks_for_something(*half)) return;
    const ForeignValue* const dtype = own_.find("torch_dtype");
    const bool is_other =
        k_swift.compare(program_) == 0 && dtype != nullptr &&
        std::find(std::begin(k_others), std::end(k_others), dtype->text) != std::end(k_others);
    if (!is_other) return add(key, text);
    if (half == nullptr) add(std::string(k_half), text);
  }

  bool says(std::string_view section) const {
    return std::any_of(own_.entries.begin(), own_.entries.end(),
                       [&](const ForeignEntry& entry) { return means(section, entry.key); });
  }

  void add(const std::string& key, const std::string& text) {
    add_to(arguments_, key, text, "the Trainer alone has another default");
  }
  void add_own(const std::string& key, const std::string& text) {
    add_to(own_, key, text, "the Trainer alone trains no adapters");
  }
  void add_to(ForeignValue& map, const std::string& key, const std::string& text, std::string hint) {
    ForeignValue value = json_scalar(text).value_or(foreign_text(text, {}));
    value.place = in_file(arguments_.place.file);
    reading_.warnings.push_back(
        {value.place, fmt::format("{} is left out: {} takes {}", key, program_, text), std::move(hint)});
    map.entries.push_back({key, value.place, std::move(value)});
  }

  std::string program_;
  ForeignValue& own_;
  ForeignValue& arguments_;
  ImportReading& reading_;
};

}  // namespace

void add_program_defaults(const std::string& program, ForeignValue& own, ForeignValue& arguments,
                          ImportReading& reading) {
  std::string name = program;
  if (name.empty() && own.find("finetuning_type") != nullptr) name = "llamafactory-cli";
  if (name.empty() && own.find("tuner_type") != nullptr) name = "swift";
  if (name.empty()) return;
  ProgramDefaults defaults(name, own, arguments, reading);
  defaults.add_adapters();
  for (const auto& [key, text] : meaning(name).unread) defaults.add_argument(key, text);
}

}  // namespace shardlab
