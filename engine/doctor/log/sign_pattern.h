// Patterns of signs: pieces of text in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

// The pieces of a pattern, in lower case, without those that are empty.
std::vector<std::string> split_pattern(std::string_view pattern);

// The longest piece: what a line must hold at least.
std::string longest_piece(std::string_view pattern);

// Whether the pieces stand in the text in order, without overlap; the text must be in lower case.
bool matches(const std::vector<std::string>& pieces, std::string_view lower_case_text);
bool matches(std::string_view pattern, std::string_view lower_case_text);

}  // namespace shardlab
