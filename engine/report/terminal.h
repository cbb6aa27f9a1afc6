// How to write for the terminal at hand.
#pragma once

#include <algorithm>

namespace shardlab {

struct TextStyle {
  int width = 80;       // columns
  bool colour = false;  // escape sequences
};

// The style of output to a file descriptor. A terminal has a width, and colours unless $NO_COLOR is set;
// anything else $COLUMNS, or more than most tables need, and none: whoever reads a pipe or a file loses what
// is cut.
TextStyle text_style(int file_descriptor);

// The width of lines of prose, which nobody likes to read as wide as a table may be.
inline int prose_width(const TextStyle& style) {
  return std::min(style.width, 110);
}

}  // namespace shardlab
