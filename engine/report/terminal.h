// How to write for the terminal at hand.
#pragma once

namespace shardlab {

struct TextStyle {
  int width = 80;       // columns
  bool colour = false;  // escape sequences
};

// The style of output to a file descriptor. A terminal has a width, and colours unless $NO_COLOR is set;
// anything else $COLUMNS or 80, and none.
TextStyle text_style(int file_descriptor);

}  // namespace shardlab
