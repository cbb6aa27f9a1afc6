// Words in a line of a log or a program. Private to the doctor.
#pragma once

#include <algorithm>
#include <cctype>
#include <string_view>

namespace shardlab {

// Whether the character belongs to the word that stands beside it: a letter, a digit, an underscore.
inline bool continues_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether one of `words`, a range of string views, stands anywhere in the text.
bool contains_one_of(std::string_view text, const auto& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

}  // namespace shardlab
