#include "engine/imports/import_report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/formats/tools/comment_block.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const ImportedSetting& setting) {
  if (!setting.is_set) return "left out";
  return setting.value.is_scalar() ? setting.value.text : write_yaml_flow(setting.value);
}

std::string difference_text(const ImportDifference& difference) {
  const std::string instead = difference.scenario.empty() ? "" : fmt::format(" -> {}", difference.scenario);
  return fmt::format("{}: {}{}: {}", difference.key, difference.file, instead, difference.why);
}

Json json_of(const YamlNode& node) {
  if (node.is_null()) return nullptr;
  if (node.is_sequence()) {
    Json list = Json::array();
    for (const YamlNode& item : node.items) list.push_back(json_of(item));
    return list;
  }
  if (node.is_map()) {
    Json map = Json::object();
    for (const YamlEntry& entry : node.entries) map[entry.key] = json_of(entry.value);
    return map;
  }
  if (node.quoted) return node.text;
  Json scalar = Json::parse(node.text, nullptr, false);
  return scalar.is_discarded() || scalar.is_string() ? Json(node.text) : scalar;
}

Json setting_values(const MadeImport& made) {
  Json settings = Json::object();
  for (const ImportedSetting& setting : made.reading.settings) {
    if (setting.is_set) settings[setting.key] = json_of(setting.value);
  }
  for (const ExportDifference& difference : made.unasked) {
    const auto value = parse_yaml(difference.instead, difference.setting, true);
    settings[difference.setting] = value ? json_of(*value) : Json(difference.instead);
  }
  return settings;
}

Json sources(const MadeImport& made) {
  Json all = Json::object();
  for (const ImportedSetting& setting : made.reading.settings) {
    if (!setting.is_set) continue;
    all[setting.key] = {{"origin", to_string(setting.origin)},
                        {"key", setting.from},
                        {"place", to_string(setting.value.place)},
                        {"note", setting.note}};
  }
  for (const ExportDifference& difference : made.unasked)
    all[difference.setting] = {{"origin", "tool"}, {"key", ""}, {"place", ""}, {"note", difference.why}};
  return all;
}

Json differences(const MadeImport& made) {
  Json list = Json::array();
  for (const ImportDifference& d : made.reading.differences)
    list.push_back({{"key", d.key},
                    {"kind", to_string(d.kind)},
                    {"file", d.file},
                    {"scenario", d.scenario},
                    {"why", d.why},
                    {"place", to_string(d.place)}});
  for (const ExportDifference& d : made.unasked)
    list.push_back({{"key", d.setting},
                    {"kind", to_string(DifferenceKind::added)},
                    {"file", ""},
                    {"scenario", d.instead},
                    {"why", d.why},
                    {"place", ""}});
  return list;
}

Json warnings(const MadeImport& made) {
  Json list = Json::array();
  for (const ForeignWarning& warning : made.reading.warnings)
    list.push_back({{"place", to_string(warning.place)}, {"what", warning.what}, {"hint", warning.hint}});
  for (const UnsupportedText& use : made.unbuilt)
    list.push_back({{"place", use.key}, {"what", use.what}, {"hint", use.hint}});
  return list;
}

}  // namespace

std::string imported_files_words(const MadeImport& made) {
  std::vector<std::string> files;
  for (const ImportedFormat& format : made.reading.formats)
    files.push_back(fmt::format("{} ({}{}{})", format.file, format.format, format.version.empty() ? "" : " ",
                                format.version));
  return fmt::format("{}", fmt::join(files, ", "));
}

std::vector<ImportNote> import_notes(const MadeImport& made) {
  std::vector<ImportNote> lines;
  for (const ImportedSetting& setting : made.reading.settings) {
    const bool is_plain = setting.origin == ImportedSetting::Origin::said && setting.note.empty();
    if (is_plain || !setting.is_set) continue;
    lines.push_back({std::string(to_string(setting.origin)),
                     fmt::format("{}: {}{}{}", setting.key, value_text(setting),
                                 setting.note.empty() ? "" : ": ", setting.note),
                     Tone::faint});
  }
  for (const ExportDifference& difference : made.unasked)
    lines.push_back({"tool",
                     fmt::format("{}: {}: {}", difference.setting, difference.instead, difference.why),
                     Tone::faint});
  for (const ImportDifference& difference : made.reading.differences)
    lines.push_back({std::string(to_string(difference.kind)), difference_text(difference),
                     difference.kind == DifferenceKind::lost ? Tone::bad : Tone::faint});
  for (const ForeignWarning& warning : made.reading.warnings)
    lines.push_back({"warning",
                     fmt::format("{}: {}{}", to_string(warning.place), warning.what,
                                 warning.hint.empty() ? "" : " (" + warning.hint + ")"),
                     Tone::fair});
  for (const UnsupportedText& use : made.unbuilt)
    lines.push_back({"warning", fmt::format("{}: {} ({})", use.key, use.what, use.hint), Tone::fair});
  return lines;
}

std::string import_text(const MadeImport& made, const TextStyle& style) {
  std::string text = fmt::format("read {}\n", imported_files_words(made));
  for (const ImportNote& line : import_notes(made))
    text += fmt::format("  {} {}\n", painted(fmt::format("{:9}", line.kind), line.tone, style), line.text);
  return text;
}

std::string imported_yaml(const MadeImport& made) {
  std::vector<std::string> head{"imported by shardlab from " + imported_files_words(made)};
  for (const ImportNote& line : import_notes(made))
    head.push_back(fmt::format("{}: {}", line.kind, line.text));
  return comment_block(head) + write_scenario(made.read.scenario);
}

Json import_json(const MadeImport& made) {
  Json files = Json::array();
  for (const ImportedFormat& format : made.reading.formats)
    files.push_back({{"file", format.file}, {"format", format.format}, {"version", format.version}});
  // The case as a whole is of the tool that starts it.
  const ImportedFormat first = made.reading.formats.empty() ? ImportedFormat{} : made.reading.formats.front();
  return {{"format", first.format},           {"version", first.version},
          {"files", std::move(files)},        {"scenario", write_scenario(made.read.scenario)},
          {"settings", setting_values(made)}, {"sources", sources(made)},
          {"differences", differences(made)}, {"warnings", warnings(made)}};
}

}  // namespace shardlab
