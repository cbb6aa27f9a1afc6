// A section of a scenario as a table of keys.
//
// One row binds the name of a key to a member of the section's struct, the kind of its value and a line of
// help. Reading, writing, the reference text and the check for settings without effect all go through the
// same table.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/base/boxed.h"
#include "engine/base/nearest.h"
#include "engine/base/yaml.h"
#include "engine/scenario/keys/kind.h"
#include "engine/scenario/problems.h"
#include "engine/scenario/source.h"

namespace shardlab {

// What reading produces besides the values.
struct Reading {
  ScenarioSource source;
  Problems problems;
};

// The key matters only while another key of the same section has one of these values.
struct OnlyWith {
  std::string key;  // empty: always
  std::vector<std::string> values;
};

// One row of the reference.
struct KeyLine {
  std::string path;
  std::string type;
  AllowedValues values;
  std::string default_value;
  std::string help;
  OnlyWith condition;
};

template <typename T>
struct Key {
  std::string name;
  std::function<void(const YamlNode&, const std::string& path, T&, Reading&)> read;
  // What differs from the second value; nothing when they are equal.
  std::function<std::optional<YamlNode>(const T&, const T&)> write_difference;
  // The value as one word, for the conditions of other keys; empty for sections.
  std::function<std::string(const T&)> word;
  // The checks of a nested section; may be empty.
  std::function<void(const T&, const std::string& path, const ScenarioSource&, Problems&)> check;
  std::function<void(const std::string& path, std::vector<KeyLine>&)> describe_to;
  OnlyWith only_with;
};

template <typename T>
using Keys = std::vector<Key<T>>;

inline std::string joined_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

// --- a section
// ---------------------------------------------------------------------------------------------------------

template <typename T>
void read_section(const Keys<T>& keys, const YamlNode& node, const std::string& path, T& value,
                  Reading& reading) {
  if (node.is_null()) return;
  if (!node.is_map()) {
    reading.problems.add(named(node.place, path.empty() ? "a scenario" : path),
                         "expected a map of keys, found " + std::string(describe(node.kind)));
    return;
  }
  for (const YamlEntry& entry : node.entries) {
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const Key<T>& known) { return known.name == entry.key; });
    if (key == keys.end()) {
      std::vector<std::string> names;
      for (const Key<T>& known : keys) names.push_back(known.name);
      reading.problems.add(named(entry.place, path), "unknown key '" + entry.key + "'",
                           suggestion(entry.key, names));
      continue;
    }
    const std::string key_path = joined_path(path, entry.key);
    reading.source.record(key_path,
                          entry.value.is_map() || entry.value.is_null() ? entry.place : entry.value.place);
    key->read(entry.value, key_path, value, reading);
  }
}

template <typename T>
std::optional<YamlNode> write_section(const Keys<T>& keys, const T& value, const T& base) {
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  for (const Key<T>& key : keys) {
    if (auto written = key.write_difference(value, base))
      map.entries.push_back({key.name, {}, *std::move(written)});
  }
  if (map.entries.empty()) return std::nullopt;
  return map;
}

// Settings that differ from their default but have no effect beside the values of other keys.
template <typename T>
void check_section(const Keys<T>& keys, const T& value, const std::string& path, const ScenarioSource& source,
                   Problems& problems) {
  const T defaults{};
  for (const Key<T>& key : keys) {
    const std::string key_path = joined_path(path, key.name);
    if (key.check) key.check(value, key_path, source, problems);
    if (key.only_with.key.empty() || !key.write_difference(value, defaults)) continue;
    const auto other = std::find_if(keys.begin(), keys.end(),
                                    [&](const Key<T>& known) { return known.name == key.only_with.key; });
    if (other == keys.end() || !other->word) continue;
    const std::string word = other->word(value);
    const auto& allowed = key.only_with.values;
    if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
    problems.add(source.place(key_path), "has no effect with " + other->name + " " + word,
                 "remove it, or set " + joined_path(path, other->name) + " to " + kind::joined(allowed));
  }
}

template <typename T>
void describe_section(const Keys<T>& keys, const std::string& path, std::vector<KeyLine>& lines) {
  for (const Key<T>& key : keys) {
    const std::size_t first = lines.size();
    key.describe_to(joined_path(path, key.name), lines);
    if (key.only_with.key.empty()) continue;
    for (std::size_t i = first; i < lines.size(); ++i) {
      if (lines[i].condition.key.empty()) lines[i].condition = key.only_with;
    }
  }
}

// --- rows
// ---------------------------------------------------------------------------------------------------------

// A row whose value is a member of the section. `default_text` replaces the default in the reference.
template <typename T, typename V>
Key<T> key(std::string name, V T::*member, Kind<std::type_identity_t<V>> value_kind, std::string help,
           std::string default_text = {}) {
  Key<T> row;
  row.name = name;
  row.read = [=](const YamlNode& node, const std::string& path, T& section, Reading& reading) {
    auto value = value_kind.read(node, name);
    if (value) {
      section.*member = *std::move(value);
      return;
    }
    Error error = std::move(value).error();
    if (error.place.empty()) error.place = node.is_null() ? reading.source.place(path) : node.place;
    error.place.name = path;
    reading.problems.add(std::move(error));
  };
  row.write_difference = [=](const T& section, const T& base) -> std::optional<YamlNode> {
    if (section.*member == base.*member) return std::nullopt;
    return value_kind.write(section.*member);
  };
  row.word = [=](const T& section) { return value_kind.write(section.*member).text; };
  row.describe_to = [=](const std::string& path, std::vector<KeyLine>& lines) {
    const YamlNode written = value_kind.write(T{}.*member);
    const std::string shown =
        written.is_null() || (written.is_scalar() && written.text.empty()) ? "" : write_yaml_flow(written);
    lines.push_back(
        {path, value_kind.type, value_kind.values, default_text.empty() ? shown : default_text, help, {}});
  };
  return row;
}

// A nested section, which `inside` finds in the outer one. With `short_key` a single word stands for a map
// with that key alone.
template <typename T, typename V, typename Inside>
Key<T> section_at(std::string name, Inside inside, const Keys<V>& (*keys)(), std::string short_key) {
  Key<T> row;
  row.name = name;
  row.read = [=](const YamlNode& node, const std::string& path, T& outer, Reading& reading) {
    if (node.is_scalar() && !short_key.empty()) {
      YamlNode map;
      map.kind = YamlNode::Kind::map;
      map.entries.push_back({short_key, node.place, node});
      read_section(keys(), map, path, inside(outer), reading);
    } else {
      read_section(keys(), node, path, inside(outer), reading);
    }
  };
  row.write_difference = [=](const T& outer, const T& base) -> std::optional<YamlNode> {
    auto map = write_section(keys(), inside(outer), inside(base));
    const bool is_short = map && map->entries.size() == 1 && map->entries.front().key == short_key;
    return is_short ? std::optional<YamlNode>(map->entries.front().value) : map;
  };
  row.check = [=](const T& outer, const std::string& path, const ScenarioSource& source, Problems& problems) {
    check_section(keys(), inside(outer), path, source, problems);
  };
  row.describe_to = [=](const std::string& path, std::vector<KeyLine>& lines) {
    describe_section(keys(), path, lines);
  };
  return row;
}

template <typename T, typename V>
Key<T> section(std::string name, V T::*member, const Keys<V>& (*keys)(), std::string short_key = {}) {
  const auto inside = [member](auto& outer) -> auto& {
    return outer.*member;
  };
  return section_at<T, V>(std::move(name), inside, keys, std::move(short_key));
}

template <typename T, typename V>
Key<T> section(std::string name, Boxed<V> T::*member, const Keys<V>& (*keys)(), std::string short_key = {}) {
  const auto inside = [member](auto& outer) -> auto& {
    return *(outer.*member);
  };
  return section_at<T, V>(std::move(name), inside, keys, std::move(short_key));
}

template <typename T>
Key<T> only_with(std::string other, std::vector<std::string> values, Key<T> row) {
  row.only_with = {std::move(other), std::move(values)};
  return row;
}

template <WordEnum E, typename T>
Key<T> only_with(std::string other, std::initializer_list<E> values, Key<T> row) {
  return only_with(std::move(other), words_of<E>(values), std::move(row));
}

}  // namespace shardlab
