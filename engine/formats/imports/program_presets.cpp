#include "engine/formats/imports/program_presets.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/paths.h"
#include "engine/formats/foreign/python_yaml.h"

namespace shardlab {
namespace {

constexpr FileKind k_presets_file{"table of configurations", std::size_t{1} << 20};

Result<ForeignValue> read_table() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("formats/presets.yaml"));
  SHARDLAB_TRY(const std::string text, read_input_file(path, k_presets_file));
  return parse_python_yaml(text, path.string());
}

// Read once; a table that is missing or damaged names nothing.
const ForeignValue& presets() {
  static const ForeignValue table = read_table().value_or(foreign_map({}));
  return table;
}

void put_at(ForeignValue& value, const Place& place) {
  value.place = place;
  for (ForeignValue& item : value.items) put_at(item, place);
  for (ForeignEntry& entry : value.entries) {
    entry.place = place;
    put_at(entry.value, place);
  }
}

// What stands in the table for a word of the tool; nothing where there is none, "every" among them.
std::optional<ForeignValue> preset(std::string_view tool, const std::string& word) {
  static constexpr std::string_view k_common = "every";
  const ForeignValue* const of_tool = presets().find(tool);
  if (of_tool == nullptr || k_common.compare(word) == 0) return std::nullopt;
  const auto found = std::find_if(of_tool->entries.begin(), of_tool->entries.end(),
                                  [&](const ForeignEntry& entry) { return entry.key == word; });
  return found == of_tool->entries.end() ? std::nullopt : std::optional(found->value);
}

ForeignValue common_keys() {
  const ForeignValue* const common = presets().find("deepspeed.every");
  return common == nullptr ? foreign_map({}) : *common;
}

}  // namespace

bool is_deepspeed_preset(const std::string& word) {
  return preset("deepspeed", word).has_value();
}

Result<ForeignValue> deepspeed_preset(const ForeignValue& word) {
  std::optional<ForeignValue> zero = preset("deepspeed", word.text);
  if (!zero) return bad_input(word.place, fmt::format("no program brings a configuration '{}'", word.text));
  ForeignValue made = common_keys();
  made.entries.push_back({"zero_optimization", word.place, *std::move(zero)});
  put_at(made, word.place);
  return made;
}

std::optional<ForeignValue> fsdp_preset(const ForeignValue& word) {
  std::optional<ForeignValue> config = preset("fsdp", word.text);
  if (config) put_at(*config, word.place);
  return config;
}

}  // namespace shardlab
