// A place in the text of a shell script, moved forward character by character, with its line and column.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

struct ShellCursor {
  std::string_view text;
  std::string_view name;  // of the script, for places
  std::size_t at = 0;
  std::size_t line_start = 0;
  int line = 1;

  bool is_at_end() const { return at >= text.size(); }
  std::string_view rest() const { return text.substr(at); }
  bool is_at(char c) const { return !is_at_end() && text[at] == c; }
  bool is_at(std::string_view start) const { return rest().starts_with(start); }
  bool is_at_one_of(std::string_view characters) const {
    return !is_at_end() && characters.find(text[at]) != std::string_view::npos;
  }
  bool is_at_space() const {  // the end of a line included
    return !is_at_end() && std::isspace(static_cast<unsigned char>(text[at])) != 0;
  }
  // Whether a backslash stands here and behind it one of these.
  bool is_at_escape_of(std::string_view characters) const {
    return is_at('\\') && at + 1 < text.size() && characters.find(text[at + 1]) != std::string_view::npos;
  }

  // The next character; there must be one.
  char next() const { return text[at]; }
  char take() {
    const char c = text[at++];
    if (c == '\n') {
      ++line;
      line_start = at;
    }
    return c;
  }
  void skip(std::size_t characters) {
    while (characters-- > 0) take();
  }
  void skip_to(std::size_t end) {
    while (at < end) take();
  }
  // To the end of the line, or of the text.
  void skip_line() {
    while (!is_at_end() && !is_at('\n')) take();
  }

  Place place() const { return in_file(std::string(name), line, static_cast<int>(at - line_start) + 1); }
};

}  // namespace shardlab
