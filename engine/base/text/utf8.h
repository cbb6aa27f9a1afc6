// Bytes as characters of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace shardlab {

// How many bytes the character at the beginning has; 0 where none begins there, as for an empty text. (The
// Unicode Standard, table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF.)
std::size_t utf8_length(std::string_view text);

// Whether a character, with as many bytes as utf8_length() says, is a control character: those below a space,
// line feeds among them, DEL, and U+0080 to U+009F, which terminals obey as well.
bool is_control_character(std::string_view character);

// The beginning of a text, at most so many bytes of it and no character in part.
std::string_view whole_characters(std::string_view text, std::size_t most);

}  // namespace shardlab
