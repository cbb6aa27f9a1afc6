// Places in a text: "file:line:column" to an offset and back.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace shardlab::gui {

// Both from 1, columns in bytes.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
  friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

// From the end of "path:12:9"; none when it does not end like that.
std::optional<TextPlace> place_of(std::string_view where);

// The offset of a place; the text's size when it lies behind the end.
std::size_t offset_of(std::string_view text, TextPlace place);

// Begin and end (without the line break) of the line that holds the offset.
struct LineRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
LineRange line_at(std::string_view text, std::size_t offset);

}  // namespace shardlab::gui
