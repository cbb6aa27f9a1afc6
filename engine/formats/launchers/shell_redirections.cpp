#include "engine/formats/launchers/shell_redirections.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "engine/formats/launchers/shell_expansion.h"
#include "engine/formats/launchers/shell_words.h"

namespace shardlab {
namespace {

// Letters and what joins words, between a `<` and a `>` that is no redirection of its own; 0: there is none.
std::size_t placeholder_length(std::string_view text) {
  constexpr std::size_t k_longest = 100;
  if (text.size() < 3 || text.front() != '<' || std::isalpha(static_cast<unsigned char>(text[1])) == 0)
    return 0;
  const std::size_t end = text.substr(0, k_longest).find_first_of("<>|;&()$`\"'\n", 1);
  if (end == std::string_view::npos || text[end] != '>' || text[end - 1] == ' ') return 0;
  const char next = end + 1 < text.size() ? text[end + 1] : ' ';
  const bool goes_on = std::isalnum(static_cast<unsigned char>(next)) != 0 || next == '&';  // as in 2>&1
  return goes_on ? 0 : end + 1;
}

// Whether the line is the word that ends the document: then it is passed.
bool take_end_of(ShellCursor& cursor, const HereDocument& document) {
  const std::size_t end = std::min(cursor.text.find('\n', cursor.at), cursor.text.size());
  std::string_view line = cursor.text.substr(cursor.at, end - cursor.at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (document.strips_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  if (line != document.end) return false;
  cursor.skip_to(end);
  if (!cursor.is_at_end()) cursor.take();
  return true;
}

void read_document_line(ShellInput& input, const HereDocument& document, ShellPieces& body) {
  ShellCursor& cursor = input.cursor;
  while (!cursor.is_at_end()) {
    const bool escapes = !document.is_quoted && cursor.is_at_escape_of("$`\\");
    const bool is_last = cursor.is_at('\n');
    if (escapes) cursor.take();
    if (!escapes && !document.is_quoted && cursor.is_at_one_of("$`"))
      expand(input, body, Expansion::whole);
    else
      append_next(input, body.last);
    if (is_last) return;
  }
}

}  // namespace

bool is_placeholder(const ShellCursor& cursor) {
  return placeholder_length(cursor.rest()) > 0;
}

ShellWord read_placeholder(ShellInput& input) {
  ShellCursor& cursor = input.cursor;
  ShellWord word{{}, true, cursor.place(), true};
  for (std::size_t left = placeholder_length(cursor.rest()); left > 0; --left) append_next(input, word);
  while (!cursor.is_at_end() && !cursor.is_at_space() && !cursor.is_at_one_of(";&|()<>\\"))
    append_next(input, word);
  return word;
}

bool is_redirection(const ShellCursor& cursor) {
  std::string_view rest = cursor.rest();
  if (rest.starts_with("&>")) return true;
  rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  return rest.starts_with('<') || rest.starts_with('>');
}

Result<ShellRedirection> read_redirection(ShellInput& input, bool may_set) {
  ShellCursor& cursor = input.cursor;
  const bool is_plain = cursor.is_at('>');  // other descriptors than the standard output have numbers
  while (cursor.is_at_one_of("0123456789&")) cursor.take();
  std::string sign;
  while (cursor.is_at_one_of("<>&|-")) sign += cursor.take();
  while (cursor.is_at_one_of(" \t")) cursor.take();
  ShellRedirection redirection;
  if (cursor.is_at_end() || cursor.is_at_one_of("\n;()")) return redirection;
  const bool is_quoted = cursor.is_at_one_of("'\"\\");
  SHARDLAB_TRY(std::vector<ShellWord> words, read_words(input, may_set));
  std::string target = words.empty() ? std::string() : std::move(words.front().text);
  if (sign == "<<" || sign == "<<-")
    redirection.document = HereDocument{std::move(target), is_quoted, sign.ends_with('-')};
  else if (is_plain && !sign.ends_with('&'))
    redirection.output = std::move(target);
  return redirection;
}

ShellWord read_here_document(ShellInput& input, const HereDocument& document) {
  ShellPieces body;
  body.last.place = input.cursor.place();
  while (!input.cursor.is_at_end() && !take_end_of(input.cursor, document))
    read_document_line(input, document, body);
  return std::move(body.last);
}

}  // namespace shardlab
