// Texts of JSON that are nested too deeply, or hold too much, to be touched.
#pragma once

#include <cstddef>
#include <string_view>

namespace shardlab {

// Lists and objects within each other, more than any file of ours has.
inline constexpr int k_deepest_json = 500;

// Whether there are more. The library parses any depth, but copies, compares and writes values by recursion:
// whoever does one of these with what somebody else wrote asks this first. Any text has an answer.
bool is_json_too_deep(std::string_view text);

// Values in all, more than any file of others has that is read as a tree. As a tree a value takes up to a
// hundred times the bytes that it has in the text; so many stay below a gibibyte.
inline constexpr std::size_t k_most_json_values = 6'000'000;

// Whether there are more. Any text has an answer.
bool is_json_too_large(std::string_view text, std::size_t most = k_most_json_values);

// Members of one object, more than any of ours has. Who keeps their order looks for each among all before it.
inline constexpr std::size_t k_most_ordered_members = 1'000;

// Whether some object has more. Any text has an answer.
bool has_too_many_members(std::string_view text);

}  // namespace shardlab
