#include "engine/formats/imports/launched_arguments.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/formats/foreign/known_keys.h"

namespace shardlab {
namespace {

bool is_arguments_file(const std::string& text) {
  return text.ends_with(".json") || text.ends_with(".yaml") || text.ends_with(".yml");
}

bool takes(const KnownKey& key, KnownType::Kind kind) {
  return std::any_of(key.types.begin(), key.types.end(),
                     [&](const KnownType& type) { return type.kind == kind; });
}

// A word of a command line as the type that its option has: HfArgumentParser and argparse convert.
ForeignValue typed_argument(const ForeignValue& word, const KnownKey& key) {
  using Kind = KnownType::Kind;
  if (!word.is_text()) return word;
  std::optional<ForeignValue> made;
  static constexpr std::pair<std::string_view, bool> k_truth[] = {
      {"true", true},   {"t", true},  {"yes", true}, {"y", true},  {"1", true},
      {"false", false}, {"f", false}, {"no", false}, {"n", false}, {"0", false}};
  for (const auto& [text, flag] : k_truth) {
    if (takes(key, Kind::boolean) && !takes(key, Kind::text) && text.compare(in_lower_case(word.text)) == 0)
      made = json_scalar(flag ? "true" : "false");
  }
  if (!made && (takes(key, Kind::integer) || takes(key, Kind::number))) made = json_scalar(word.text);
  static constexpr std::string_view k_true = "true";
  if (!made && takes(key, Kind::boolean) && k_true.compare(in_lower_case(word.text)) == 0)
    made = json_scalar("true");
  if (!made) return word;
  made->place = word.place;
  return *made;
}

// Differs by two letters at most: nobody calls an option of his own so.
bool is_misspelt(const std::string& name, const std::string& near) {
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

std::vector<std::string> argument_names() {
  std::vector<std::string> names;
  for (const char* version : {"transformers", "transformers-4"}) {
    if (const auto tool = known_keys(version)) {
      for (const KnownKey& key : (*tool)->section("root").keys) names.push_back(key.name);
    }
  }
  return names;
}

const KnownKey* argument_key(const std::string& name) {
  for (const char* version : {"transformers", "transformers-4"}) {
    const auto tool = known_keys(version);
    if (!tool) continue;
    if (const KnownKey* const key = (*tool)->section("root").find(name)) return key;
  }
  return nullptr;
}

// A text with a variable in it that the script does not set.
bool is_open(const ForeignEntry& entry) {
  return entry.value.is_text() && entry.value.flag;
}

void tell_open(const ForeignEntry& entry, ImportReading& reading) {
  reading.differences.push_back({"--" + entry.key, DifferenceKind::elsewhere, shown(entry.value), "",
                                 "a variable, known when the script runs", entry.place});
}

bool is_launch_option(const LaunchScript& script, const std::string& name) {
  const auto tool = known_keys(to_string(script.launcher));
  return tool && (*tool)->section("launch").find(name) != nullptr;
}

ForeignValue& section_of(ForeignValue& root, const std::string& name, const Place& place) {
  for (ForeignEntry& entry : root.entries) {
    if (entry.key == name && entry.value.is_map()) return entry.value;
  }
  root.entries.push_back({name, place, foreign_map(place)});
  return root.entries.back().value;
}

void put(ForeignValue& map, const std::string& key, ForeignValue value) {
  const auto same = std::find_if(map.entries.begin(), map.entries.end(),
                                 [&](const ForeignEntry& entry) { return entry.key == key; });
  const Place place = value.place;
  if (same != map.entries.end()) map.entries.erase(same);
  map.entries.push_back({key, place, std::move(value)});
}

// Where an option of accelerate launch stands in its file; empty: it has no key there.
std::string file_section(const KnownKeys& tool, const std::string& option) {
  for (const char* section :
       {"fsdp_config", "deepspeed_config", "parallelism_config", "fp8_config", "dynamo_config"}) {
    if (tool.section(section).find(option) != nullptr) return section;
  }
  return tool.section("root").find(option) != nullptr ? "root" : "";
}

std::string distributed_type_of(const std::string& option) {
  static constexpr std::pair<std::string_view, std::string_view> k_flags[] = {
      {"use_fsdp", "FSDP"},
      {"use_deepspeed", "DEEPSPEED"},
      {"multi_gpu", "MULTI_GPU"},
      {"use_megatron_lm", "MEGATRON_LM"}};
  for (const auto& [flag, type] : k_flags) {
    if (flag.compare(option) == 0) return std::string(type);
  }
  return {};
}

}  // namespace

LaunchedFiles files_named_by(const LaunchScript& script) {
  LaunchedFiles files;
  if (const ForeignValue* const config = script.options.find("config_file")) files.accelerate = *config;
  if (script.positions.size() == 1 && script.arguments.entries.empty() &&
      is_arguments_file(script.positions.front().text))
    files.trainer = script.positions.front();
  if (const ForeignValue* const config = script.arguments.find("deepspeed_config")) files.deepspeed = *config;
  return files;
}

Status add_launched_arguments(const LaunchScript& script, ForeignValue& arguments, Problems& problems,
                              ImportReading& reading) {
  static const std::vector<std::string> names = argument_names();
  for (const ForeignEntry& entry : script.arguments.entries) {
    static constexpr std::string_view k_native = "deepspeed_config", k_deepspeed = "deepspeed";
    if (k_native.compare(entry.key) == 0) continue;
    if (k_deepspeed.compare(entry.key) == 0 && script.arguments.find(k_native) != nullptr) continue;
    const KnownKey* const key = argument_key(entry.key);
    if (key != nullptr && is_open(entry)) {
      tell_open(entry, reading);
      continue;
    }
    if (key != nullptr) {
      put(arguments, entry.key, typed_argument(entry.value, *key));
      continue;
    }
    if (is_launch_option(script, entry.key)) {
      problems.add(entry.place,
                   fmt::format("--{} stands after the program: {} does not see it", entry.key,
                               to_string(script.launcher)),
                   "write it before the program's name");
      continue;
    }
    const auto tool = known_keys("transformers");
    if (tool && (*tool)->section("root").unread.contains(entry.key)) {
      add_unknown_key(problems, entry.place, **tool, (*tool)->section("root"), entry.key);
      continue;
    }
    const auto near = nearest_name(entry.key, names);
    if (near && is_misspelt(entry.key, *near)) {
      problems.add(entry.place, fmt::format("unknown argument '--{}'", entry.key),
                   fmt::format("did you mean '--{}'?", *near));
      continue;
    }
    reading.differences.push_back({"--" + entry.key, DifferenceKind::elsewhere, shown(entry.value), "",
                                   "an argument of the program's own", entry.place});
  }
  if (arguments.place.empty()) arguments.place = script.place;
  return {};
}

Status add_launch_options(const LaunchScript& script, ForeignValue& file, Problems& problems,
                          ImportReading& reading) {
  SHARDLAB_TRY(const KnownKeys* const tool, known_keys("accelerate"));
  if (file.place.empty()) file.place = script.place;
  for (const ForeignEntry& entry : script.options.entries) {
    if (const std::string type = distributed_type_of(entry.key); !type.empty()) {
      put(file, "distributed_type", foreign_text(type, entry.place));
      continue;
    }
    const std::string section = file_section(*tool, entry.key);
    if (section.empty()) continue;
    if (is_open(entry)) {
      tell_open(entry, reading);
      continue;
    }
    const KnownKey* const key = tool->section(section).find(entry.key);
    ForeignValue& map = section == "root" ? file : section_of(file, section, entry.place);
    put(map, entry.key, typed_argument(entry.value, *key));
  }
  if (file.entries.empty() || file.find("distributed_type") != nullptr) return {};
  // Without a file: as many ranks as there are devices, replicas where that is more than one.
  const ForeignValue* const count = file.find("num_processes");
  const bool is_said = script.options.find("num_processes") != nullptr;
  if (count == nullptr && is_said) {
    put(file, "distributed_type", foreign_text("MULTI_GPU", script.place));
    return {};
  }
  if (count == nullptr) {
    problems.add(script.place,
                 "accelerate launch without --config_file and --num_processes takes as many ranks as there "
                 "are devices",
                 "--num_processes N says it, or give the file");
    return {};
  }
  put(file, "distributed_type",
      foreign_text(count->is_integer() && count->integer > 1 ? "MULTI_GPU" : "NO", count->place));
  return {};
}

}  // namespace shardlab
