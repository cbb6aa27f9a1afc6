// What begins with $ or a backquote: variables, defaults, arithmetic, and commands, which are not executed.
#pragma once

#include "engine/formats/launchers/shell_pieces.h"

namespace shardlab {

// Takes what stands at the cursor, a $ or a backquote, and adds what it means to the word: $NAME, ${NAME} and
// ${NAME:-default} what the script set, else the default; ${NAME[@]} the words of an array; $(( ... )) the
// number. Anything else, and what the script does not say, is added as it is written and the word is open.
void expand(ShellInput& input, ShellPieces& word, Expansion expansion);

}  // namespace shardlab
