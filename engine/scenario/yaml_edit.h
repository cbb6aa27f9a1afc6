// Changing one setting in the text of a scenario and leaving the rest as its writer left it: comments, order,
// spelling.
//
// The result always reads as the old tree with that one change. Where a change in place cannot do that, the
// whole text is written anew, without its comments. Pure functions; keys are dotted ("parallel.mesh.shard").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/yaml.h"

namespace shardlab {

// `value` is YAML ("8", "[a, b]"). Fails with bad_input when the text or the value is not YAML.
Result<std::string> set_yaml_value(std::string_view text, std::string_view key, std::string_view value);

// Removes the key, and sections that it leaves empty. The same text when it was not there.
Result<std::string> unset_yaml_value(std::string_view text, std::string_view key);

// The value at the key as one line of YAML (a scalar without its quotes); none when it is not there.
std::optional<std::string> yaml_value_text(const YamlNode& root, std::string_view key);

// Any text as a YAML value that reads as that text.
std::string quoted_yaml(std::string_view text);

// Whether two trees are equal apart from the places.
bool same_tree(const YamlNode& a, const YamlNode& b);

}  // namespace shardlab
