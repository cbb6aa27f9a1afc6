// As much of somebody else's text as people read of it in a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shardlab {

// The bytes that a message shows of the name of a thing, such as a column, and of a sentence, which may quote
// a value: either can be as long as the file that it is from.
inline constexpr std::size_t k_shown_of_name = 400, k_shown_of_text = 4000;

// The text, or where it has more than `most` bytes (at least a hundred) its beginning and how much is left
// out: never more than `most` bytes, so that what was cut once is not cut again.
std::string shown_part(std::string_view text, std::size_t most);

}  // namespace shardlab
