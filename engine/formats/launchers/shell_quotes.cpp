#include "engine/formats/launchers/shell_quotes.h"

#include <utility>

#include "engine/formats/launchers/shell_expansion.h"

namespace shardlab {
namespace {

Status take_closing_quote(ShellCursor& cursor, Place begin) {
  if (cursor.is_at_end()) return bad_input(std::move(begin), "a quote does not end");
  cursor.take();
  return {};
}

}  // namespace

Status read_single_quotes(ShellInput& input, ShellWord& word) {
  ShellCursor& cursor = input.cursor;
  Place begin = cursor.place();
  cursor.take();
  while (!cursor.is_at_end() && !cursor.is_at('\'')) append_next(input, word);
  return take_closing_quote(cursor, std::move(begin));
}

Status read_double_quotes(ShellInput& input, ShellPieces& word) {
  ShellCursor& cursor = input.cursor;
  Place begin = cursor.place();
  cursor.take();
  while (!cursor.is_at_end() && !cursor.is_at('"')) {
    if (cursor.is_at_escape_of("\"\\$`\n")) {
      cursor.take();
      const char c = cursor.take();
      if (c != '\n') append(input, word.last, {&c, 1});
    } else if (cursor.is_at_one_of("$`")) {
      expand(input, word, Expansion::quoted);
    } else {
      append_next(input, word.last);
    }
  }
  return take_closing_quote(cursor, std::move(begin));
}

}  // namespace shardlab
