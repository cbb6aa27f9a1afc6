// YAML as a plain tree in which every node knows its place.
//
// Reading is strict where silence would hide a mistake: duplicate keys, keys that are not plain words, tags
// and several documents are errors. Aliases are copied in, within a bound. Nothing in a file can make reading
// crash, recurse deeply or grow without limit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string text;                // of a scalar
  bool quoted = false;             // a scalar in quotes or a block scalar: text, never a number
  std::vector<YamlNode> items;     // of a sequence
  std::vector<YamlEntry> entries;  // of a map, in the order of the file
  Place place;

  YamlNode();
  YamlNode(const YamlNode&);
  YamlNode(YamlNode&&) noexcept;
  YamlNode& operator=(const YamlNode&);
  YamlNode& operator=(YamlNode&&) noexcept;
  ~YamlNode();

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }

  // The value of a key of a map; null pointer when absent or not a map.
  const YamlNode* find(std::string_view key) const;
  YamlNode* find(std::string_view key);
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlNode value;
};

YamlNode yaml_scalar(std::string text, bool quoted = false);
YamlNode yaml_sequence(std::vector<YamlNode> items);

// "a map", "a list", "a value" or "nothing", for messages.
std::string_view describe(YamlNode::Kind kind);

// `name` stands for the file in places. With `whole_place` every node's place is `name` itself, without line
// and column (a command-line option). An empty text is a null node.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view name, bool whole_place = false);

// Block style, with short lists of scalars in one line; parse_yaml reads it back to the same tree apart from
// the places.
std::string write_yaml(const YamlNode& node);

// The same in one line: {a: 1, b: [x, y]}.
std::string write_yaml_flow(const YamlNode& node);

}  // namespace shardlab
