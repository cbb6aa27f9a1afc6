#include "engine/formats/launchers/shell_redirections.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/formats/launchers/shell_expansion.h"
#include "engine/formats/launchers/shell_words.h"

namespace shardlab {
namespace {

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
