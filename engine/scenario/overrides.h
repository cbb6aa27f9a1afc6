// --set key=value: replaces values in the tree of a scenario before it is read.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/base/yaml.h"

namespace shardlab {

// `assignment` is key=value with a dotted key; the value is YAML ("8", "[a, b]", "{policy: none}"). Sections
// that are missing are made. Keys are checked later, by whoever reads the tree: what the override put there
// has the place `--set key=value`. A text of another form, or a key below one that has a value, is bad_input.
Status apply_override(YamlNode& root, std::string_view assignment);

}  // namespace shardlab
