// Places in a text: line and column to an offset and back.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// Both from 1, columns in bytes.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
  friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

// None when the place has no line.
std::optional<TextPlace> text_place(const Place& place);

// The offset of a place; the text's size when it lies behind the end.
std::size_t offset_of(std::string_view text, TextPlace place);

// Begin and end (without the line break) of the line that holds the offset.
struct LineRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
LineRange line_at(std::string_view text, std::size_t offset);

}  // namespace shardlab
