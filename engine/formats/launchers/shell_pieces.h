// One word as it is written, which may become several: what values of variables and of arrays do to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/formats/launchers/shell_input.h"

namespace shardlab {

// Where a variable stands, and so what becomes of its value.
enum class Expansion : std::uint8_t {
  split,   // outside quotes: a value with spaces is several words
  quoted,  // in quotes: one word, but for the words of an array
  whole,   // in a value, a default or a here-document: always one word
};

struct ShellPieces {
  std::vector<ShellWord> complete;
  ShellWord last;  // the one that grows
};

// Adds a variable's value to the word.
void append_value(ShellInput& input, ShellPieces& word, const std::string& value, Expansion expansion);

// Adds the words of an array. With one that is open, the word is.
void append_array(ShellInput& input, ShellPieces& word, const std::vector<ShellWord>& array,
                  Expansion expansion);

}  // namespace shardlab
