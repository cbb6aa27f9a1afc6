#include "engine/scenario/setting_view.h"

#include <algorithm>
#include <optional>

#include "engine/base/yaml.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {
namespace {

// A teacher's parallel and precision are described once, with the student's.
std::string described_key(const std::string& key) {
  for (const std::string_view section : {"parallel.", "precision."}) {
    const std::string teachers = teacher_key(std::string(section));
    if (key.starts_with(teachers)) return std::string(section) + key.substr(teachers.size());
  }
  return key;
}

// Null where there is no such key.
const KeyLine* described(const std::string& given_key) {
  const std::string key = described_key(given_key);
  static const std::vector<KeyLine> lines = [] {
    std::vector<KeyLine> all;
    describe_section(scenario_keys(), {}, all);
    return all;
  }();
  const auto line =
      std::find_if(lines.begin(), lines.end(), [&](const KeyLine& known) { return known.path == key; });
  return line == lines.end() ? nullptr : &*line;
}

// The node at a dotted key, of a section that was written with one word the word itself.
const YamlNode* written_node(const YamlNode& root, std::string_view key) {
  const YamlNode* node = &root;
  while (!key.empty()) {
    if (node->is_scalar()) return key.find('.') == std::string_view::npos ? node : nullptr;
    const std::size_t dot = key.find('.');
    node = node->find(key.substr(0, dot));
    if (node == nullptr || dot == std::string_view::npos) return node;
    key.remove_prefix(dot + 1);
  }
  return node;
}

}  // namespace

SettingView view_setting(const Scenario& scenario, const ScenarioSource& source, const std::string& key) {
  SettingView view;
  view.key = key;
  view.given = source.given(key);
  if (view.given) view.where = source.where(key);
  // What differs from the defaults, as it would be written.
  const std::optional<YamlNode> written = write_section(scenario_keys(), scenario, Scenario{});
  const YamlNode* const node = written ? written_node(*written, key) : nullptr;
  if (node != nullptr) {
    view.value = node->is_scalar() ? node->text : write_yaml_flow(*node);
  } else if (const KeyLine* const line = described(key)) {
    view.value = line->default_value;
    view.in_words = line->default_in_words;
  }
  return view;
}

}  // namespace shardlab
