#include "engine/formats/axolotl/axolotl_fsdp.h"

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/yaml.h"
#include "engine/formats/axolotl/axolotl_values.h"

namespace shardlab {
namespace {

// The version stands at the root or in the section.
const ForeignValue* stated_version(const ForeignValue& file) {
  for (const char* key : {"fsdp_version", "fsdp_config.version"}) {
    if (const ForeignValue* const version = given_value(file, key)) return version;
  }
  return nullptr;
}

// What the layers are told of resharding, the root is told as well.
void read_root(const ForeignValue& section, const std::string& model_class, ImportReading& reading) {
  static constexpr std::string_view k_key = "reshard_after_forward";
  const ForeignValue* const said = given_value(section, k_key);
  ForeignValue reshards = said != nullptr ? *said : value_in(section, "true");
  if (!is_true(&reshards)) return;
  const std::string key = fmt::format("fsdp_config.{}", k_key);
  auto overrides = parse_yaml(
      fmt::format("[{{match: {{class: {}}}, settings: {{{}: true}}}}]", model_class, k_key), key, true);
  if (model_class.empty() || !overrides)
    return list_difference(reading, key, DifferenceKind::lost, reshards,
                           "the root frees its parameters after forward as well");
  ImportedSetting root;
  root.key = "parallel.wrap.overrides";
  root.value = *std::move(overrides);
  root.value.place = reshards.place;
  root.from = key;
  root.note = "the root frees its parameters after forward as well";
  reading.set(std::move(root));
}

// A key of the section that TrainingArguments do not have.
bool read_own_key(const ForeignEntry& entry, ImportReading& reading) {
  static constexpr std::string_view k_pins = "cpu_offload_pin_memory", k_at_end = "final_state_dict_type",
                                    k_policy = "mixed_precision_policy", k_version = "version";
  const std::string key = "fsdp_config." + entry.key;
  if (k_pins.compare(entry.key) == 0) {
    if (!entry.value.flag) put_setting(reading, "offload.pin", "false", key, entry.value);
  } else if (k_at_end.compare(entry.key) == 0) {
    list_difference(reading, key, DifferenceKind::elsewhere, entry.value, "what is saved at the end");
  } else if (k_policy.compare(entry.key) == 0) {
    list_difference(reading, key, DifferenceKind::lost, entry.value, "bf16 and fp16 say the precision");
  } else {
    return k_version.compare(entry.key) == 0;
  }
  return true;
}

}  // namespace

bool shards_itself(const ForeignValue& file) {
  const ForeignValue* const version = stated_version(file);
  return given_value(file, "fsdp_config") != nullptr && version != nullptr && version->is_integer() &&
         version->integer == 2;
}

void add_axolotl_fsdp(const ForeignValue& file, const std::string& model_class, ForeignValue& arguments,
                      ImportReading& reading) {
  const ForeignValue* const section = given_value(file, "fsdp_config");
  const ForeignValue* const words = given_value(file, "fsdp");
  const ForeignValue* const version = given_value(file, "fsdp_version");
  if (section == nullptr && words == nullptr && version != nullptr)
    list_difference(reading, "fsdp_version", DifferenceKind::elsewhere, *version,
                    "no effect without fsdp_config");
  if (section == nullptr && words == nullptr) return;
  ForeignValue map = foreign_map(section == nullptr ? words->place : section->place);
  const ForeignValue* const given = stated_version(file);
  add_value(map, "version", given != nullptr ? *given : left_out(file, "fsdp_version", "1", reading));
  if (shards_itself(file)) {
    reading.settled.push_back("parallel.wrap");
    read_root(*section, model_class, reading);
  }
  for (const ForeignEntry& entry : section == nullptr ? std::vector<ForeignEntry>() : section->entries) {
    static constexpr std::string_view k_offload = "offload_params";
    if (entry.value.is_null() || read_own_key(entry, reading)) continue;
    add_value(map, k_offload.compare(entry.key) == 0 ? "cpu_offload" : entry.key, entry.value);
  }
  ForeignValue on = value_in(file, "true");
  on.place = map.place;
  add_value(arguments, "fsdp", words == nullptr ? on : *words);
  add_value(arguments, "fsdp_config", std::move(map));
}

void read_axolotl_degrees(const ForeignValue& file, ImportReading& reading) {
  static constexpr std::pair<const char*, const char*> k_degrees[] = {
      {"dp_shard_size", "parallel.mesh.shard"},
      {"dp_replicate_size", "parallel.mesh.replicate"},
      {"tensor_parallel_size", ""},
      {"context_parallel_size", ""},
      {"sequence_parallel_degree", ""},
      {"expert_parallel_size", ""}};
  for (const auto& [key, setting] : k_degrees) {
    const ForeignValue* const degree = given_value(file, key);
    if (degree == nullptr || !degree->is_integer() || degree->integer <= 1) continue;
    if (*setting != '\0')
      put_setting(reading, setting, std::to_string(degree->integer), key, *degree);
    else
      list_difference(reading, key, DifferenceKind::lost, *degree,
                      "a scenario has no such parallelism that runs");
  }
}

}  // namespace shardlab
