#include "engine/formats/imports/older_arguments.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/formats/foreign/check_keys.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/imports/program_arguments.h"
#include "engine/formats/launchers/launch_script.h"

namespace shardlab {

void read_text_numbers(ForeignValue& arguments, ImportReading& reading) {
  for (ForeignEntry& entry : arguments.entries) {
    if (!entry.value.is_text() || !is_number_argument(entry.key)) continue;
    auto number = python_number(entry.value.text, false);
    if (!number) continue;
    reading.warnings.push_back(
        {entry.value.place,
         fmt::format(
             "{}: '{}' is text in YAML, which the Trainer alone cannot train with; read as the number",
             entry.key, entry.value.text),
         fmt::format("write {}", yaml_number(entry.value.text, number->number))});
    number->place = entry.value.place;
    entry.value = *std::move(number);
  }
}

bool rename_old_arguments(ForeignValue& arguments, ImportReading& reading) {
  const auto tool = known_keys("transformers-4");
  if (!tool) return false;
  const auto& renamed = (*tool)->section("root").renamed;
  bool found = false;
  for (ForeignEntry& entry : arguments.entries) {
    const bool is_word = entry.value.is_text();
    const auto name = renamed.find(entry.key);
    const auto word = is_word ? renamed.find(entry.key + "=" + entry.value.text) : renamed.end();
    const auto row = name != renamed.end() ? name : word;
    if (row == renamed.end()) continue;
    const std::size_t comma = row->second.find(", ");
    const std::string now = row->second.substr(0, comma);
    reading.warnings.push_back({entry.place,
                                fmt::format("'{}' is read as '{}': {} and later refuse it", row->first, now,
                                            row->second.substr(comma + 2)),
                                fmt::format("write '{}' for these", now)});
    found = found || name != renamed.end();
    (name != renamed.end() ? entry.key : entry.value.text) = now;
  }
  return found;
}

void join_old_arguments(ForeignValue& arguments) {
  static constexpr std::pair<std::string_view, std::string_view> k_old[] = {
      {"fsdp_transformer_layer_cls_to_wrap", "transformer_layer_cls_to_wrap"},
      {"fsdp_min_num_params", "min_num_params"}};
  for (const auto& [old, now] : k_old) {
    const ForeignValue* const said = arguments.find(old);
    if (said == nullptr || said->is_null()) continue;
    ForeignValue value = *said;
    const ForeignValue* const section = arguments.find("fsdp_config");
    if (section == nullptr || !section->is_map())
      arguments.entries.push_back({"fsdp_config", value.place, foreign_map(value.place)});
    for (ForeignEntry& entry : arguments.entries) {
      static constexpr std::string_view k_section = "fsdp_config";
      if (k_section.compare(entry.key) == 0 && entry.value.is_map())
        entry.value.entries.push_back({std::string(now), value.place, std::move(value)});
    }
  }
}

}  // namespace shardlab
