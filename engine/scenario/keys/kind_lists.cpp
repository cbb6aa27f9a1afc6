// Kinds that hold several values: lists of texts, maps of texts, raw JSON.
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/scenario/keys/kind.h"

namespace shardlab::kind {
namespace {

using TextMap = std::map<std::string, std::string>;

// An error about an item is at the item.
tl::unexpected<Error> at(const YamlNode& node, Error error) {
  if (error.place.empty()) error.place = node.place;
  return fail(std::move(error));
}

template <typename T>
Kind<std::vector<T>> list_of(Kind<T> inner, std::string type) {
  return {std::move(type), inner.values,
          [inner](const YamlNode& node, std::string_view name) -> Result<std::vector<T>> {
            std::vector<T> values;
            if (node.is_map()) return bad_input({}, "expected a list, found a map");
            if (node.is_null()) return bad_input({}, "has no value", "an empty list is []");
            const YamlNode* const first = node.is_sequence() ? node.items.data() : &node;
            const std::size_t count = node.is_sequence() ? node.items.size() : 1;
            for (std::size_t i = 0; i < count; ++i) {
              auto value = inner.read(first[i], name);
              if (!value) return at(first[i], value.error());
              values.push_back(*std::move(value));
            }
            return values;
          },
          [inner](const std::vector<T>& values) {
            std::vector<YamlNode> items;
            for (const T& value : values) items.push_back(inner.write(value));
            return yaml_sequence(std::move(items));
          }};
}

// A scalar by the rules of YAML 1.2's core schema, and our integers.
nlohmann::json json_scalar(const YamlNode& node) {
  if (node.quoted) return node.text;
  if (const auto value = parse_boolean(node.text)) return *value;
  if (const auto value = parse_integer(node.text)) return *value;
  if (const auto value = parse_number(node.text)) return *value;
  return node.text;
}

nlohmann::json to_json(const YamlNode& node) {
  if (node.is_null()) return nullptr;
  if (node.is_scalar()) return json_scalar(node);
  if (node.is_sequence()) {
    nlohmann::json list = nlohmann::json::array();
    for (const YamlNode& item : node.items) list.push_back(to_json(item));
    return list;
  }
  nlohmann::json object = nlohmann::json::object();
  for (const YamlEntry& entry : node.entries) object[entry.key] = to_json(entry.value);
  return object;
}

YamlNode from_json(const nlohmann::json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) {
    const YamlNode bare = yaml_scalar(value.get<std::string>());
    return yaml_scalar(bare.text,
                       !json_scalar(bare).is_string());  // quotes where it would read as something else
  }
  if (value.is_object()) {
    YamlNode map;
    map.kind = YamlNode::Kind::map;
    for (const auto& [key, inner] : value.items()) map.entries.push_back({key, {}, from_json(inner)});
    return map;
  }
  if (!value.is_array()) return yaml_scalar(value.dump());
  std::vector<YamlNode> items;
  for (const nlohmann::json& inner : value) items.push_back(from_json(inner));
  return yaml_sequence(std::move(items));
}

Result<TextMap> read_json_map(const YamlNode& node, const std::vector<std::string>& names) {
  TextMap values;
  if (node.is_null()) return values;
  if (!node.is_map())
    return bad_input({}, fmt::format("expected a map of keys, found {}", describe(node.kind)));
  for (const YamlEntry& entry : node.entries) {
    if (!names.empty() && std::find(names.begin(), names.end(), entry.key) == names.end()) {
      return bad_input(entry.place, fmt::format("unknown key '{}'", entry.key), suggestion(entry.key, names));
    }
    // Invalid UTF-8 is replaced: dump() must not throw on a strange file.
    values[entry.key] = to_json(entry.value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return values;
}

}  // namespace

Kind<std::vector<std::string>> texts() {
  return list_of(text(), "list of texts");
}

Kind<std::vector<std::vector<std::string>>> text_lists() {
  return list_of(texts(), "list of lists of texts");
}

Kind<std::vector<std::string>> words(std::vector<std::string> names) {
  return list_of(word(std::move(names)), "list of words");
}

Kind<TextMap> text_map() {
  return {"map of texts", "",
          [](const YamlNode& node, std::string_view) -> Result<TextMap> {
            TextMap values;
            if (node.is_null()) return values;
            if (!node.is_map())
              return bad_input({}, fmt::format("expected a map of texts, found {}", describe(node.kind)));
            for (const YamlEntry& entry : node.entries) {
              auto value = scalar_text(entry.value);
              if (!value) return at(entry.value, value.error());
              values[entry.key] = *std::move(value);
            }
            return values;
          },
          [](const TextMap& values) {
            YamlNode map;
            map.kind = YamlNode::Kind::map;
            for (const auto& [key, value] : values) map.entries.push_back({key, {}, yaml_scalar(value)});
            return map;
          }};
}

Kind<TextMap> json_map(std::vector<std::string> names) {
  return {
      "map", joined(names),
      [names](const YamlNode& node, std::string_view) { return read_json_map(node, names); },
      [](const TextMap& values) {
        YamlNode map;
        map.kind = YamlNode::Kind::map;
        for (const auto& [key, value] : values) {
          const nlohmann::json parsed = nlohmann::json::parse(value, nullptr, false);
          map.entries.push_back({key, {}, parsed.is_discarded() ? yaml_scalar(value) : from_json(parsed)});
        }
        return map;
      }};
}

}  // namespace shardlab::kind
