// Texts of JSON that are nested too deeply to be touched.
#pragma once

#include <string_view>

namespace shardlab {

// Lists and objects within each other, more than any file of ours has.
inline constexpr int k_deepest_json = 500;

// Whether there are more. The library parses any depth, but copies, compares and writes values by recursion:
// whoever does one of these with what somebody else wrote asks this first. Any text has an answer.
bool is_json_too_deep(std::string_view text);

}  // namespace shardlab
