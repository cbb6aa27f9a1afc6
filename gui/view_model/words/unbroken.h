// What a line of prose is not broken between.
#pragma once

#include <string_view>

namespace shardlab::view {

// Whether a word is the unit of the figure before it: "ms" behind "9.38", "GiB," behind "1,016".
bool is_unit_behind(std::string_view before, std::string_view word);

}  // namespace shardlab::view
