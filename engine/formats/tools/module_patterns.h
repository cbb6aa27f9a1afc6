// Path patterns of a scenario as other tools write them.
#pragma once

#include <span>
#include <string>

namespace shardlab {

// A regular expression of Python's `re` that matches a whole module path where one of the patterns
// (base/path_pattern.h) does.
std::string regular_expression(std::span<const std::string> patterns);

}  // namespace shardlab
