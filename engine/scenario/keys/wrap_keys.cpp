#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "engine/base/nearest.h"
#include "engine/model/wrap/wrap_spec.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/train_words.h"

namespace shardlab {
namespace {

const Keys<WrapMatch>& match_keys() {
  static const Keys<WrapMatch> keys{
      key("path", &WrapMatch::path, kind::text(),
          "pattern of the module's path: * inside a name, ** across dots"),
      key("class", &WrapMatch::class_name, kind::text(), "class of the module"),
      key("min_params", &WrapMatch::min_params, kind::optional(kind::long_integer(0)),
          "least parameters, all below the module included"),
      key("max_params", &WrapMatch::max_params, kind::optional(kind::long_integer(0)), "most parameters"),
  };
  return keys;
}

// What a wrap override may set: keys of other sections that PyTorch takes unit by unit, with their kinds of
// values.
struct UnitSetting {
  std::string name;
  std::function<Result<std::string>(const YamlNode&)> read;  // as that section writes it
};

template <typename V>
UnitSetting unit_setting(std::string name, Kind<V> value_kind) {
  return {name, [name, value_kind](const YamlNode& node) -> Result<std::string> {
            SHARDLAB_TRY(const V value, value_kind.read(node, name));
            const YamlNode written = value_kind.write(value);
            return written.is_null() ? "none" : written.text;
          }};
}

const std::vector<UnitSetting>& unit_setting_rows() {
  const auto dtype = kind::optional(kind::dtype({DType::float32, DType::bfloat16, DType::float16}));
  static const std::vector<UnitSetting> rows{
      unit_setting("reshard_after_forward", reshard_after_forward_kind()),
      unit_setting("precision.param", dtype),
      unit_setting("precision.reduce", dtype),
      unit_setting("precision.buffer", dtype),
      unit_setting("precision.output", dtype),
      unit_setting("precision.cast_forward_inputs", kind::optional(kind::boolean())),
      unit_setting("offload.parameters", kind::word<OffloadTarget>()),
      unit_setting("offload.pin", kind::boolean()),
      unit_setting("activation.checkpoint", kind::word<ActivationCheckpoint>()),
  };
  return rows;
}

using TextMap = std::map<std::string, std::string>;

Result<TextMap> read_unit_settings(const YamlNode& node, const std::vector<std::string>& names) {
  TextMap settings;
  for (const YamlEntry& entry : node.entries) {
    const auto row = std::find_if(unit_setting_rows().begin(), unit_setting_rows().end(),
                                  [&](const UnitSetting& known) { return known.name == entry.key; });
    if (row == unit_setting_rows().end())
      return bad_input(entry.place, fmt::format("unknown key '{}'", entry.key), suggestion(entry.key, names));
    auto text = row->read(entry.value);
    if (!text) {
      Error error = std::move(text).error();
      if (error.place.empty()) error.place = entry.value.is_null() ? entry.place : entry.value.place;
      error.what = entry.key + ": " + error.what;
      return fail(std::move(error));
    }
    settings[entry.key] = *std::move(text);
  }
  return settings;
}

Kind<TextMap> unit_settings() {
  std::vector<std::string> names;
  for (const UnitSetting& row : unit_setting_rows()) names.push_back(row.name);
  Kind<TextMap> settings = kind::text_map();
  settings.type = "map";
  settings.values = kind::joined(names);
  settings.read = [names](const YamlNode& node, std::string_view) -> Result<TextMap> {
    if (!node.is_map() && !node.is_null())
      return bad_input({}, fmt::format("expected a map of keys, found {}", describe(node.kind)));
    return read_unit_settings(node, names);
  };
  return settings;
}

const Keys<WrapOverride>& override_keys() {
  static const Keys<WrapOverride> keys{
      section("match", &WrapOverride::match, &match_keys),
      key("settings", &WrapOverride::settings, unit_settings(), "what is different for these units"),
  };
  return keys;
}

// A list of maps, each a section of its own; one map stands for a list of one.
template <typename T, typename V>
Key<T> list_of_sections(std::string_view name, std::vector<V> T::*member, const Keys<V>& (*keys)(),
                        std::string_view help, bool describe_items) {
  KeyRow row;
  row.name = name;
  row.read = [=](const YamlNode& node, const std::string& path, void* section, Reading& reading) {
    const YamlNode* const first = node.is_sequence() ? node.items.data() : &node;
    const std::size_t count = node.is_sequence() ? node.items.size() : 1;
    std::vector<V> values(count);
    for (std::size_t i = 0; i < count; ++i)
      read_section(keys(), first[i], fmt::format("{}[{}]", path, i), values[i], reading);
    static_cast<T*>(section)->*member = std::move(values);
  };
  row.write_difference = [=](const void* section, const void* base) -> std::optional<YamlNode> {
    const std::vector<V>& values = static_cast<const T*>(section)->*member;
    if (values == static_cast<const T*>(base)->*member) return std::nullopt;
    std::vector<YamlNode> items;
    for (const V& value : values) {
      YamlNode empty;
      empty.kind = YamlNode::Kind::map;
      items.push_back(write_section(keys(), value, V{}).value_or(empty));
    }
    return yaml_sequence(std::move(items));
  };
  row.check = [=](const void* section, const std::string& path, const ScenarioSource& source,
                  Problems& problems) {
    const std::vector<V>& values = static_cast<const T*>(section)->*member;
    for (std::size_t i = 0; i < values.size(); ++i)
      check_section(keys(), values[i], fmt::format("{}[{}]", path, i), source, problems);
  };
  row.describe_to = [=, help = std::string(help)](const std::string& path, std::vector<KeyLine>& lines) {
    lines.push_back({path, "list of maps", "", "[]", help, {}});
    if (describe_items) describe_section(keys(), path + "[]", lines);
  };
  return {std::move(row)};
}

}  // namespace

const Keys<WrapSpec>& wrap_keys() {
  static const Keys<WrapSpec> keys{
      key("policy", &WrapSpec::policy, kind::word<WrapPolicyKind>(), "which modules become units"),
      only_with("policy", {WrapPolicyKind::transformer, WrapPolicyKind::module},
                key("classes", &WrapSpec::classes, kind::texts(), "classes of the modules that become units",
                    "the model's layer class")),
      only_with("policy", {WrapPolicyKind::size},
                key("min_params", &WrapSpec::min_params, kind::long_integer(1),
                    "parameters from which a module becomes a unit; with rule plain it needs more")),
      only_with("policy", {WrapPolicyKind::size},
                key("rule", &WrapSpec::rule, kind::word<SizeRule>(),
                    "remainder: what is left after the children were wrapped counts, as in FSDP1; plain: all "
                    "parameters count, as accelerate does with FSDP2")),
      only_with("policy", {WrapPolicyKind::lambda},
                list_of_sections("match", &WrapSpec::match, &match_keys,
                                 "modules that match any of these become units", true)),
      only_with("policy", {WrapPolicyKind::any_of},
                list_of_sections("any", &WrapSpec::any, &wrap_keys,
                                 "policies; a module that any of them selects becomes a unit", false)),
      list_of_sections("overrides", &WrapSpec::overrides, &override_keys, "settings of single units", true),
      key("ignored", &WrapSpec::ignored, kind::texts(),
          "path patterns of modules that stay outside all units"),
      key("together", &WrapSpec::together, kind::text_lists(),
          "lists of path patterns; the modules of a list are one unit, "
          "as in fully_shard([norm, lm_head]), with their parameters in this order"),
  };
  return keys;
}

}  // namespace shardlab
