#include "engine/formats/foreign/foreign_value.h"

#include <charconv>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

using Kind = ForeignValue::Kind;

const ForeignValue* child(const ForeignValue& map, std::string_view key) {
  for (const ForeignEntry& entry : map.entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

nlohmann::ordered_json as_json(const ForeignValue& value) {
  switch (value.kind) {
    case Kind::null: return nullptr;
    case Kind::boolean: return value.flag;
    case Kind::integer: return value.integer;
    case Kind::number: return value.number;
    case Kind::text: return value.text;
    case Kind::list: {
      auto list = nlohmann::ordered_json::array();
      for (const ForeignValue& item : value.items) list.push_back(as_json(item));
      return list;
    }
    case Kind::map: {
      auto map = nlohmann::ordered_json::object();
      for (const ForeignEntry& entry : value.entries) map[entry.key] = as_json(entry.value);
      return map;
    }
  }
  return nullptr;
}

bool is_json_number(std::string_view text) {
  return nlohmann::json::accept(text) &&
         (text.front() == '-' || (text.front() >= '0' && text.front() <= '9'));
}

std::optional<ForeignValue> as_number(std::string_view text) {
  ForeignValue value;
  value.text = text;
  const char* const end = text.data() + text.size();
  // One that 64 bits do not hold is a number like others, of which the digits are known.
  if (const auto whole = std::from_chars(text.data(), end, value.integer);
      whole.ptr == end && whole.ec == std::errc()) {
    value.kind = Kind::integer;
    value.number = static_cast<double>(value.integer);
    return value;
  }
  const auto read = std::from_chars(text.data(), end, value.number);
  if (read.ptr != end || read.ec != std::errc() || !std::isfinite(value.number)) return std::nullopt;
  value.kind = Kind::number;
  value.is_whole = std::abs(value.number) < 9e15 && std::floor(value.number) == value.number;
  value.integer = value.is_whole ? static_cast<std::int64_t>(value.number) : 0;
  return value;
}

}  // namespace

const ForeignValue* ForeignValue::find(std::string_view key) const {
  const ForeignValue* node = this;
  while (true) {
    const std::size_t dot = key.find('.');
    node = child(*node, key.substr(0, dot));
    if (node == nullptr || dot == std::string_view::npos) return node;
    key.remove_prefix(dot + 1);
  }
}

ForeignValue foreign_text(std::string text, Place place) {
  ForeignValue value;
  value.kind = Kind::text;
  value.text = std::move(text);
  value.place = std::move(place);
  return value;
}

ForeignValue foreign_map(Place place) {
  ForeignValue value;
  value.kind = Kind::map;
  value.place = std::move(place);
  return value;
}

bool is_true(const ForeignValue* value) {
  return value != nullptr && value->kind == ForeignValue::Kind::boolean && value->flag;
}

std::optional<ForeignValue> json_scalar(std::string_view text) {
  static constexpr std::pair<std::string_view, bool> k_booleans[] = {{"true", true}, {"false", false}};
  for (const auto& [word, flag] : k_booleans) {
    if (text != word) continue;
    ForeignValue value;
    value.kind = Kind::boolean;
    value.flag = flag;
    value.text = text;
    return value;
  }
  if (text == "null") return ForeignValue{};
  if (text.empty() || !is_json_number(text)) return std::nullopt;
  return as_number(text);
}

std::string shown(const ForeignValue& value) {
  constexpr std::size_t k_room = 60;
  const std::string text =
      value.is_number() && !value.text.empty()
          ? value.text
          : as_json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= k_room ? text : std::string(whole_characters(text, k_room - 2)) + "..";
}

std::string_view describe(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "a boolean";
    case Kind::integer: return "an integer";
    case Kind::number: return "a number";
    case Kind::text: return "text";
    case Kind::list: return "a list";
    case Kind::map: return "a map";
  }
  return "";
}

YamlNode as_yaml(const ForeignValue& value) {
  YamlNode node;
  switch (value.kind) {
    case Kind::null: break;
    case Kind::boolean: node = yaml_scalar(value.flag ? "true" : "false"); break;
    case Kind::integer: node = yaml_scalar(std::to_string(value.integer)); break;
    case Kind::number:
      node = yaml_scalar(value.is_whole ? std::to_string(value.integer) : as_json(value).dump());
      break;
    case Kind::text: node = yaml_scalar(value.text, true); break;
    case Kind::list:
      node.kind = YamlNode::Kind::sequence;
      for (const ForeignValue& item : value.items) node.items.push_back(as_yaml(item));
      break;
    case Kind::map:
      node.kind = YamlNode::Kind::map;
      for (const ForeignEntry& entry : value.entries)
        node.entries.push_back({entry.key, entry.place, as_yaml(entry.value)});
      break;
  }
  node.place = value.place;
  return node;
}

}  // namespace shardlab
