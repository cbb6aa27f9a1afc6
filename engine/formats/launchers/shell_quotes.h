// The parts of a word between quotes.
#pragma once

#include "engine/formats/launchers/shell_pieces.h"

namespace shardlab {

// Takes the quotes at the cursor and what is between them. In single quotes every character is itself, in
// double ones variables have their values. An error where they do not end.
Status read_single_quotes(ShellInput& input, ShellWord& word);
Status read_double_quotes(ShellInput& input, ShellPieces& word);

}  // namespace shardlab
