// Redirections of a command, and here-documents, which they announce.
#pragma once

#include <optional>
#include <string>

#include "engine/formats/launchers/shell_input.h"

namespace shardlab {

struct HereDocument {
  std::string end;           // the word that ends it
  bool is_quoted = false;    // variables in it stay as they are written
  bool strips_tabs = false;  // before the word that ends it
};

struct ShellRedirection {
  std::optional<std::string> output;     // the file that the standard output goes to
  std::optional<HereDocument> document;  // its text begins with the next line
};

// Whether a word in angle brackets begins, as people write where a value belongs: "<your_output_dir>". To the
// shell it is two redirections.
bool is_placeholder(const ShellCursor& cursor);

// Reads the one at the cursor with what is joined to it: "<folder>/model".
ShellWord read_placeholder(ShellInput& input);

// Whether one begins: digits and `<` or `>`, or `&>`.
bool is_redirection(const ShellCursor& cursor);

// Reads the one at the cursor with the word behind its sign, which is no word of the command. `may_set` and
// errors: read_words().
Result<ShellRedirection> read_redirection(ShellInput& input, bool may_set);

// Reads the text to the line that ends it, which is passed; the cursor is at the beginning of a line.
ShellWord read_here_document(ShellInput& input, const HereDocument& document);

}  // namespace shardlab
