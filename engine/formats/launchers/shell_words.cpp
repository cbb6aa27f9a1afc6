#include "engine/formats/launchers/shell_words.h"

#include <utility>

#include "engine/formats/launchers/shell_expansion.h"
#include "engine/formats/launchers/shell_quotes.h"

namespace shardlab {
namespace {

bool ends_word(const ShellCursor& cursor) {
  return cursor.is_at_end() || cursor.is_at_space() || cursor.is_at_one_of(";&|()<>");
}

// The backslash makes the next character an ordinary one, but for the end of a line.
void append_escaped(ShellInput& input, ShellWord& word) {
  input.cursor.take();
  append_next(input, word);
}

// A line that is continued ends a word as well. Whether the cursor stood there, and has passed it.
bool take_continuation(ShellCursor& cursor) {
  const bool is_last = cursor.is_at('\\') && cursor.at + 1 == cursor.text.size();
  if (!is_last && !cursor.is_at("\\\n")) return false;
  cursor.skip(is_last ? 1 : 2);
  return true;
}

// The next part of a word, quoted or not.
Status read_part(ShellInput& input, ShellPieces& word, bool may_set) {
  const char c = input.cursor.next();
  if (c == '\'') return read_single_quotes(input, word.last);
  if (c == '"') return read_double_quotes(input, word);
  if (c == '\\')
    append_escaped(input, word.last);
  else if (c == '$' || c == '`')
    expand(input, word, may_set && as_setting(word.last) ? Expansion::whole : Expansion::split);
  else
    append_next(input, word.last);
  return {};
}

}  // namespace

Result<std::vector<ShellWord>> read_words(ShellInput& input, bool may_set) {
  ShellCursor& cursor = input.cursor;
  ShellPieces word;
  word.last.place = cursor.place();
  bool is_quoted = false;
  while (!ends_word(cursor)) {
    if (take_continuation(cursor)) break;
    is_quoted = is_quoted || cursor.is_at_one_of("'\"");
    SHARDLAB_CHECK_OK(read_part(input, word, may_set));
  }
  if (input.amount.is_too_long) return word_too_long(word.last.place);
  if (!word.last.text.empty() || is_quoted) word.complete.push_back(std::move(word.last));
  return std::move(word.complete);
}

Status read_array(ShellInput& input, const std::string& name) {
  ShellCursor& cursor = input.cursor;
  const Place begin = cursor.place();
  std::vector<ShellWord>& array = input.arrays[name];
  if (cursor.at < 2 || cursor.text[cursor.at - 2] != '+') array.clear();
  cursor.take();
  while (!cursor.is_at_end() && !cursor.is_at(')')) {
    if (input.amount.has_too_many_words()) return too_many_words(begin);
    if (cursor.is_at('#')) {
      cursor.skip_line();
    } else if (cursor.is_at_space() || cursor.is_at_one_of(";&|(<>")) {
      cursor.take();
    } else if (cursor.is_at("\\\n")) {
      cursor.skip(2);
    } else {
      SHARDLAB_TRY(std::vector<ShellWord> words, read_words(input, true));
      input.amount.words += words.size();
      for (ShellWord& word : words) array.push_back(std::move(word));
    }
  }
  if (cursor.is_at_end()) return bad_input(begin, "a parenthesis does not end");
  cursor.take();
  return {};
}

std::optional<ShellSetting> as_setting(const ShellWord& word) {
  const std::size_t equals = word.text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  const std::string_view text = word.text;
  std::string_view name = text.substr(0, equals);
  const bool adds = name.ends_with('+');
  if (adds) name.remove_suffix(1);
  if (!is_shell_name(name)) return std::nullopt;
  return ShellSetting{name, adds, text.substr(equals + 1)};
}

}  // namespace shardlab
