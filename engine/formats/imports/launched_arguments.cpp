#include "engine/formats/imports/launched_arguments.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/imports/program_arguments.h"
#include "engine/formats/imports/trainer_arguments.h"

namespace shardlab {
namespace {

bool takes(const KnownKey& key, KnownType::Kind kind) {
  return std::any_of(key.types.begin(), key.types.end(),
                     [&](const KnownType& type) { return type.kind == kind; });
}

// A word of a command line as the type that its option has: HfArgumentParser and argparse convert.
ForeignValue typed_argument(const ForeignValue& word, const KnownKey& key) {
  using Kind = KnownType::Kind;
  if (!word.is_text()) return word;
  if (takes(key, Kind::list) && !takes(key, Kind::text) && !takes(key, Kind::boolean)) {
    ForeignValue list;
    list.kind = ForeignValue::Kind::list;
    list.items.push_back(word);
    list.place = word.place;
    return list;
  }
  std::optional<ForeignValue> made;
  static constexpr std::pair<std::string_view, bool> k_truth[] = {
      {"true", true},   {"t", true},  {"yes", true}, {"y", true},  {"1", true},
      {"false", false}, {"f", false}, {"no", false}, {"n", false}, {"0", false}};
  for (const auto& [text, flag] : k_truth) {
    if (takes(key, Kind::boolean) && !takes(key, Kind::text) && text.compare(in_lower_case(word.text)) == 0)
      made = json_scalar(flag ? "true" : "false");
  }
  if (!made && (takes(key, Kind::integer) || takes(key, Kind::number)))
    made = python_number(word.text, !takes(key, Kind::number));
  static constexpr std::string_view k_true = "true";
  if (!made && takes(key, Kind::boolean) && k_true.compare(in_lower_case(word.text)) == 0)
    made = json_scalar("true");
  if (!made) return word;
  made->place = word.place;
  return *made;
}

// --deepspeed without a file is a flag of programs that call DeepSpeed themselves; their configuration is in
// --deepspeed_config, or they make it.
bool is_deepspeed_flag(const LaunchScript& script, const ForeignEntry& entry) {
  static constexpr std::string_view k_native = "deepspeed_config", k_flag = "deepspeed";
  if (k_native.compare(entry.key) == 0) return true;
  return k_flag.compare(entry.key) == 0 &&
         (script.arguments.find(k_native) != nullptr || is_true(&entry.value));
}

// A text with a variable in it that the script does not set.
bool is_open(const ForeignEntry& entry) {
  return entry.value.is_text() && entry.value.flag;
}

void tell_open(const ForeignEntry& entry, ImportReading& reading) {
  reading.differences.push_back({"--" + entry.key, DifferenceKind::elsewhere, shown(entry.value), "",
                                 "a variable, known when the script runs", entry.place});
}

// Options of launchers that say where ranks run; others, as mixed_precision, programs have as well.
bool says_where(const std::string& name) {
  static constexpr std::string_view k_starts[] = {
      "n",    "rdzv",      "master_",     "main_process_", "machine_rank",
      "use_", "multi_gpu", "config_file", "hostfile"};
  return std::any_of(std::begin(k_starts), std::end(k_starts),
                     [&](std::string_view start) { return name.starts_with(start); });
}

bool is_launch_option(const LaunchScript& script, const std::string& name) {
  const auto tool = known_keys(to_string(script.launcher));
  return tool && (*tool)->section("launch").find(name) != nullptr;
}

// Options that launchers alone have: a program gets them by mistake.
bool is_of_launchers_alone(const LaunchScript& script, const std::string& name) {
  const bool is_one =
      name.starts_with("nproc_per") || name.starts_with("nnodes") || name.starts_with("rdzv_");
  return is_one && is_launch_option(script, name);
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
  const auto is_file = [](const ForeignValue& word) { return is_arguments_file(word.text); };
  const auto given = std::find_if(script.positions.begin(), script.positions.end(), is_file);
  if (given != script.positions.end()) files.trainer = *given;
  // TrlParser takes --config for the file of its arguments.
  const ForeignValue* const named = script.arguments.find("config");
  files.may_be_another = !files.trainer;
  if (!files.trainer && named != nullptr && named->is_text() && is_file(*named)) files.trainer = *named;
  if (const ForeignValue* const config = script.arguments.find("deepspeed_config")) files.deepspeed = *config;
  // A program that is not the Trainer's may name a file with --deepspeed as well.
  const ForeignValue* const config = script.arguments.find("deepspeed");
  if (!files.deepspeed && config != nullptr && config->is_text() && is_file(*config) &&
      !takes_training_arguments(script) && !files.trainer)
    files.deepspeed = *config;
  return files;
}

bool calls_deepspeed(const LaunchScript& script) {
  return script.arguments.find("deepspeed_config") != nullptr || is_true(script.arguments.find("deepspeed"));
}

Status add_launched_arguments(const LaunchScript& script, ForeignValue& arguments, ForeignValue& own,
                              Problems& problems, ImportReading& reading) {
  const bool is_trainer = !arguments.entries.empty() || takes_training_arguments(script);
  for (const ForeignEntry& entry : script.arguments.entries) {
    if (is_deepspeed_flag(script, entry)) continue;
    if (!is_trainer && !is_of_launchers_alone(script, entry.key)) {
      put(own, entry.key, entry.value);
      continue;
    }
    const KnownKey* const key = argument_key(entry.key);
    if (key != nullptr && is_open(entry)) {
      tell_open(entry, reading);
      continue;
    }
    if (key != nullptr) {
      put(arguments, key->name, typed_argument(entry.value, *key));
      continue;
    }
    if (is_old_argument(entry.key)) {
      put(arguments, entry.key, entry.value);
      continue;
    }
    if (is_program_argument(entry.key)) {
      put(own, entry.key, entry.value);
      continue;
    }
    if (is_launch_option(script, entry.key) && says_where(entry.key)) {
      problems.add(entry.place,
                   fmt::format("--{} stands after the program: {} does not see it", entry.key,
                               to_string(script.launcher)),
                   "write it before the program's name", ErrorCode::no_effect);
      continue;
    }
    const std::string near = nearest_argument(entry.key);
    if (!near.empty() && is_misspelt_argument(entry.key, near)) {
      problems.add(entry.place, fmt::format("unknown argument '--{}'", entry.key),
                   fmt::format("did you mean '--{}'?", near), ErrorCode::unknown_key);
      continue;
    }
    put(own, entry.key, entry.value);
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
    const KnownKey* const key = tool->section(section).find(entry.key);
    if (is_open(entry)) tell_open(entry, reading);
    // An address that a variable says is there all the same.
    static constexpr std::string_view k_address = "main_process_ip";
    if (is_open(entry) && k_address.compare(entry.key) != 0) continue;
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
                 "--num_processes N says it, or give the file", ErrorCode::unsaid);
    return {};
  }
  put(file, "distributed_type",
      foreign_text(count->is_integer() && count->integer > 1 ? "MULTI_GPU" : "NO", count->place));
  return {};
}

}  // namespace shardlab
