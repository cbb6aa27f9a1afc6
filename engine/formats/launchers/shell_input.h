// What reading a shell script goes on with: where it stands, what the script set so far, how much was read.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/launchers/shell_commands.h"
#include "engine/formats/launchers/shell_cursor.h"

namespace shardlab {

// A script of a few lines can ask for any amount of memory: `A="$A$A"` doubles a word line by line. So words
// and their bytes are counted, and what is more than a launch script has is an error.
struct ShellAmount {
  std::size_t words = 0;
  std::size_t bytes = 0;     // of all words
  bool is_too_long = false;  // a word, or all together: something was dropped

  bool has_too_many_words() const;
};

struct ShellInput {
  ShellCursor cursor;
  std::map<std::string, ShellWord> variables;
  std::map<std::string, std::vector<ShellWord>> arrays;
  ShellAmount amount;
};

// The only places where a word grows. What is too long is dropped; whoever ends the word says so.
void append(ShellInput& input, ShellWord& word, std::string_view more);
// The next character of the text, which is taken.
void append_next(ShellInput& input, ShellWord& word);

// Errors where an amount is exceeded.
tl::unexpected<Error> too_many_words(Place where);
tl::unexpected<Error> word_too_long(Place where);

}  // namespace shardlab
