#include "engine/report/setting_differences.h"

#include <algorithm>
#include <array>

#include "engine/base/yaml.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/setting_view.h"

namespace shardlab {
namespace {

// The dotted keys of everything that is no section.
void add_keys(const YamlNode& node, const std::string& path, std::vector<std::string>& keys) {
  for (const YamlEntry& entry : node.entries) {
    const std::string key = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.value.is_map()) {
      add_keys(entry.value, key, keys);
    } else if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      keys.push_back(key);
    }
  }
}

bool is_a_name(const std::string& key) {
  constexpr std::array<std::string_view, 3> k_names = {"name", "description", "tags"};
  return std::find(k_names.begin(), k_names.end(), key) != k_names.end();
}

// The words that stand for a default ("what the others leave") are no value beside one.
std::string value_of(const ReadScenario& read, const std::string& key) {
  const SettingView view = view_setting(read.scenario, read.source, key);
  return view.in_words && !view.given ? "not given" : view.value;
}

}  // namespace

Result<std::vector<SettingDifference>> setting_differences(const ScenarioText& first,
                                                           const ScenarioText& second) {
  const auto a = parse_scenario_with_source(first.yaml, first.name);
  const auto b = parse_scenario_with_source(second.yaml, second.name);
  for (const auto* read : {&a, &b})
    if (!*read && is_of_the_machine(read->error())) return fail(read->error());
  if (!a || !b) return std::vector<SettingDifference>();
  std::vector<std::string> keys;
  for (const ScenarioText* text : {&first, &second}) {
    if (const auto tree = parse_yaml(text->yaml, text->name)) add_keys(*tree, {}, keys);
  }
  std::vector<SettingDifference> differences;
  for (const std::string& key : keys) {
    if (is_a_name(key)) continue;
    std::string one = value_of(*a, key);
    std::string other = value_of(*b, key);
    if (one != other) differences.push_back({key, std::move(one), std::move(other)});
  }
  return differences;
}

}  // namespace shardlab
