#include "engine/formats/tools/tool_key.h"

#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "engine/base/lower_case.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

ToolValue& place_of(ToolValue& tree, std::string_view key) {
  ToolValue* node = &tree;
  for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    node = &(*node)[std::string(key.substr(0, dot))];
    key.remove_prefix(dot + 1);
  }
  return (*node)[std::string(key)];
}

// Whether YAML 1.1 may take the word for a boolean, a number or nothing.
bool is_ambiguous(const std::string& text) {
  static constexpr std::string_view k_words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
  const bool is_number = text.find_first_not_of("0123456789+-._eExXoO:") == std::string::npos;
  return is_number ||
         std::find(std::begin(k_words), std::end(k_words), in_lower_case(text)) != std::end(k_words);
}

YamlNode yaml_node(const ToolValue& value) {
  if (value.is_object()) {
    YamlNode map;
    map.kind = YamlNode::Kind::map;
    for (const auto& [key, inner] : value.items()) map.entries.push_back({key, {}, yaml_node(inner)});
    return map;
  }
  if (value.is_array()) {
    std::vector<YamlNode> items;
    for (const ToolValue& item : value) items.push_back(yaml_node(item));
    return yaml_sequence(std::move(items));
  }
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return yaml_scalar(text, is_ambiguous(text));
  }
  return yaml_scalar(value.dump());
}

}  // namespace

bool applies(const ToolTable& table, const ExportSubject& subject) {
  return table.applies == nullptr || table.applies(subject);
}

ToolValue tool_tree(std::span<const ToolTable> tables, const ExportSubject& subject) {
  ToolValue tree = ToolValue::object();
  for (const ToolTable& table : tables) {
    if (!applies(table, subject)) continue;
    ToolValue& section = table.section.empty() ? tree : tree[std::string(table.section)];
    for (const ToolKey& key : table.keys) {
      ToolValue value = key.value(subject);
      if (!value.is_null()) place_of(section, key.key) = std::move(value);
    }
  }
  return tree;
}

std::string tool_yaml(const ToolValue& tree) {
  return write_yaml(yaml_node(tree));
}

}  // namespace shardlab
