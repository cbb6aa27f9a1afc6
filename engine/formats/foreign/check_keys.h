// Whether a tool knows every key and value of a file, also where its own loader would say nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/foreign/known_keys.h"
#include "engine/scenario/problems.h"

namespace shardlab {

struct ForeignWarning {
  Place place;
  std::string what;
  std::string hint;
  ErrorCode code = ErrorCode::none;  // what kind of mistake it tells of
};

struct CheckedKeys {
  ForeignValue tree;  // with the tool's own names: aliases and prefixes replaced, words in their table's case
  std::vector<ForeignWarning> warnings;
};

// `value` is a map with the keys of the section. What is wrong goes into `problems`. `path`: where the map
// stands in its file, with a dot at the end.
CheckedKeys check_keys(const ForeignValue& value, const KnownKeys& tool, std::string_view section,
                       Problems& problems, const std::string& path = {});

// The same number so that YAML 1.1 reads it as one: with a point, and a sign in the exponent.
std::string yaml_number(const std::string& text, double number);

// The complaint about a key that the section does not have.
void add_unknown_key(Problems& problems, const Place& place, const KnownKeys& tool,
                     const KnownSection& section, const std::string& key);

}  // namespace shardlab
