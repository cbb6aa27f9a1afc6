#include "engine/formats/axolotl/axolotl_values.h"

#include <utility>

#include <fmt/format.h>

namespace shardlab {

const ForeignValue* given_value(const ForeignValue& file, std::string_view key) {
  const ForeignValue* const value = file.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void add_value(ForeignValue& map, std::string key, ForeignValue value) {
  const Place place = value.place;
  map.entries.push_back({std::move(key), place, std::move(value)});
}

ForeignValue value_in(const ForeignValue& file, std::string_view text) {
  ForeignValue value = json_scalar(text).value_or(foreign_text(std::string(text), {}));
  value.place = in_file(file.place.file);
  return value;
}

ForeignValue left_out(const ForeignValue& file, std::string_view key, std::string_view text,
                      ImportReading& reading) {
  ForeignValue value = value_in(file, text);
  reading.warnings.push_back({value.place, fmt::format("{} is left out: axolotl takes {}", key, text),
                              "write it where another is meant"});
  return value;
}

void put_setting(ImportReading& reading, std::string setting, std::string text, std::string_view key,
                 const ForeignValue& value, std::string note) {
  ImportedSetting made;
  made.key = std::move(setting);
  made.value = yaml_scalar(std::move(text));
  made.value.place = value.place;
  made.from = key;
  made.note = std::move(note);
  reading.set(std::move(made));
}

void list_difference(ImportReading& reading, std::string_view key, DifferenceKind kind,
                     const ForeignValue& value, std::string why, std::string scenario) {
  reading.differences.push_back(
      {std::string(key), kind, shown(value), std::move(scenario), std::move(why), value.place});
}

}  // namespace shardlab
