#include "engine/formats/launchers/shell_pieces.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace shardlab {
namespace {

// What comes is a word of its own; an empty one before it is none.
void begin_piece(ShellPieces& word) {
  ShellWord next;
  next.place = word.last.place;
  if (!word.last.text.empty()) word.complete.push_back(std::move(word.last));
  word.last = std::move(next);
}

}  // namespace

void append_value(ShellInput& input, ShellPieces& word, const std::string& value, Expansion expansion) {
  if (expansion != Expansion::split) return append(input, word.last, value);
  std::size_t at = 0;
  while (at < value.size()) {
    const std::size_t end = std::min(value.find_first_of(" \t\n", at), value.size());
    append(input, word.last, std::string_view(value).substr(at, end - at));
    if (end < value.size()) begin_piece(word);
    at = end + 1;
  }
}

void append_array(ShellInput& input, ShellPieces& word, const std::vector<ShellWord>& array,
                  Expansion expansion) {
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0 && expansion == Expansion::whole) append(input, word.last, " ");
    if (i > 0 && expansion != Expansion::whole) begin_piece(word);
    append(input, word.last, array[i].text);
    word.last.is_open = word.last.is_open || array[i].is_open;
  }
}

}  // namespace shardlab
