// Path patterns of a scenario as other tools write them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

// A regular expression of Python's `re` that matches a whole module path where one of the patterns
// (base/path_pattern.h) does.
std::string regular_expression(std::span<const std::string> patterns);

// The path patterns that an expression means, of the form that the function above writes; nothing for others.
std::optional<std::vector<std::string>> path_patterns(std::string_view expression);

}  // namespace shardlab
