// What a file of another tool says, as the tool's own loader types it, with the place of every value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"

namespace shardlab {

struct ForeignEntry;

struct ForeignValue {
  enum class Kind : std::uint8_t { null, boolean, integer, number, text, list, map };

  Kind kind = Kind::null;
  bool flag = false;         // of a boolean; of a text in a script: a part of it is known when it runs
  std::int64_t integer = 0;  // of an integer, and of a number that is one
  double number = 0;         // of a number, and of an integer
  bool is_whole = false;     // of a number: `integer` holds it exactly
  std::string text;          // of a text; of a boolean or a number as it is written
  std::vector<ForeignValue> items;
  std::vector<ForeignEntry> entries;  // in the order of the file
  Place place;

  bool is_null() const { return kind == Kind::null; }
  bool is_text() const { return kind == Kind::text; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }
  bool is_integer() const { return kind == Kind::integer || (kind == Kind::number && is_whole); }
  bool is_number() const { return kind == Kind::integer || kind == Kind::number; }

  // At a dotted key; null pointer where there is none.
  const ForeignValue* find(std::string_view dotted_key) const;
};

struct ForeignEntry {
  std::string key;
  Place place;
  ForeignValue value;
};

ForeignValue foreign_text(std::string text, Place place);
ForeignValue foreign_map(Place place);

// Whether it is there and the boolean true.
bool is_true(const ForeignValue* value);

// A scalar without quotes as JSON types it: null, true, false, a number; nothing for other words.
std::optional<ForeignValue> json_scalar(std::string_view text);

// In one line, as JSON, for messages: at most some sixty characters.
std::string shown(const ForeignValue& value);

// "a number", "text", "a map", for messages.
std::string_view describe(ForeignValue::Kind kind);

// The same value as a scenario would write it.
YamlNode as_yaml(const ForeignValue& value);

}  // namespace shardlab
