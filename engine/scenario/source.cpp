#include "engine/scenario/source.h"

#include <string>
#include <vector>

#include <fmt/core.h>

#include "engine/base/text/utf8.h"
#include "engine/scenario/keys/short_sections.h"
#include "engine/scenario/yaml_edit.h"

namespace shardlab {

Place ScenarioSource::place(std::string_view key) const {
  for (std::string_view section = key;;) {
    if (const auto place = places_.find(section); place != places_.end())
      return named(place->second, std::string(key));
    const std::size_t dot = section.rfind('.');
    if (dot == std::string_view::npos) return named(in_file(file_), std::string(key));
    section = section.substr(0, dot);
  }
}

std::string ScenarioSource::where(std::string_view key) const {
  return to_string(named(place(key), {}));
}

namespace {

std::string option_of(std::string_view assignment) {
  constexpr std::size_t k_shown = 80;
  if (assignment.size() <= k_shown) return fmt::format("--set {}", assignment);
  return fmt::format("--set {}...", whole_characters(assignment, k_shown));
}

std::vector<std::string> parts_of(std::string_view key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// The value of a key of a map, made when absent.
YamlNode& value_of(YamlNode& map, const std::string& key, const Place& place) {
  if (YamlNode* const found = map.find(key)) return *found;
  YamlEntry added{key, place, {}};
  added.value.place = place;
  map.entries.push_back(std::move(added));
  return map.entries.back().value;
}

// A section that is written as one word, as the map that the word stands for.
void write_out(YamlNode& node, const std::string& path) {
  const std::string key = node.is_scalar() ? short_key_of(path) : std::string();
  if (key.empty()) return;
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  map.place = node.place;
  map.entries.push_back({key, node.place, std::move(node)});
  node = std::move(map);
}

}  // namespace

Status apply_override(YamlNode& root, std::string_view assignment) {
  const Place place = in_file(option_of(assignment));
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return bad_input(place, "expected key=value", "for example train.micro_batch=8");
  // A key is written into files: bytes that YAML does not read back are none.
  const std::string key(assignment.substr(0, equals));
  if (const auto read = parse_yaml(quoted_yaml(key), place.file, true); !read || read->text != key)
    return bad_input(place, "a key with characters that are no text", "for example train.micro_batch=8");
  SHARDLAB_TRY(YamlNode value, parse_yaml(assignment.substr(equals + 1), place.file, true));
  value.place = place;

  const std::vector<std::string> parts = parts_of(assignment.substr(0, equals));
  YamlNode* node = &root;
  std::string path;
  for (const std::string& part : parts) {
    if (part.empty()) return bad_input(place, "a key with an empty part");
    if (node->is_null()) node->kind = YamlNode::Kind::map;
    write_out(*node, path);
    if (!node->is_map()) {
      return bad_input(place,
                       fmt::format("{} is {} (at {}), not a map of keys", path, describe(node->kind),
                                   to_string(node->place)),
                       fmt::format("set {} as a whole", path));
    }
    node = &value_of(*node, part, place);
    path += (path.empty() ? "" : ".") + part;
  }
  *node = std::move(value);
  return {};
}

}  // namespace shardlab
