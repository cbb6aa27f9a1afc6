#include "engine/formats/launchers/shell_expansion.h"

#include <cctype>
#include <string>
#include <string_view>

#include "engine/formats/launchers/shell_arithmetic.h"
#include "engine/formats/launchers/shell_printed.h"

namespace shardlab {
namespace {

constexpr int k_most_defaults = 20;  // in one another

void expand_at_depth(ShellInput& input, ShellPieces& word, Expansion expansion, int depth);

// What the braces hold behind the name.
struct Braces {
  bool has_fallback = false;
  ShellWord text;  // the default; without one, an element of an array or a part of a text

  bool is_more() const { return !has_fallback && !text.text.empty(); }
  bool is_whole_array() const { return text.text == "[@]" || text.text == "[*]"; }
};

// $( ... ) and ` ... `: what it prints, where that is known without running it; else as it is written, to the
// sign that closes it. `begin` is where the word has it from.
void append_command(ShellInput& input, ShellWord& word, char open, char close, std::size_t begin) {
  ShellCursor& cursor = input.cursor;
  const std::size_t inside = cursor.at + 1;
  int depth = 0;
  do {
    const char c = cursor.take();
    if (c == open && (open != close || depth == 0))
      ++depth;
    else if (c == close)
      --depth;
  } while (!cursor.is_at_end() && depth > 0);
  const bool is_closed = depth == 0 && cursor.at > inside;
  const std::string_view command = is_closed ? cursor.text.substr(inside, cursor.at - 1 - inside) : "";
  if (const auto text = printed(input, command)) return append(input, word, *text);
  append(input, word, cursor.text.substr(begin, cursor.at - begin));
  word.is_open = true;
}

// What was read since `begin`, as it is written.
void append_open(ShellInput& input, ShellWord& word, std::size_t begin) {
  append(input, word, input.cursor.text.substr(begin, input.cursor.at - begin));
  word.is_open = true;
}

void append_dollar_command(ShellInput& input, ShellWord& word) {
  append_command(input, word, '(', ')', input.cursor.at - 1);
}

// $(( ... )) of numbers that the script says; else it stays open.
void append_arithmetic(ShellInput& input, ShellWord& word, std::size_t begin) {
  ShellCursor& cursor = input.cursor;
  const std::size_t end = cursor.text.find("))", cursor.at);
  if (end == std::string_view::npos) return append_dollar_command(input, word);
  const auto value_of = [&](std::string_view name) {
    const auto known = input.variables.find(std::string(name));
    return known == input.variables.end() || known->second.is_open ? std::string() : known->second.text;
  };
  const auto value = shell_arithmetic(cursor.text.substr(cursor.at + 2, end - cursor.at - 2), value_of);
  cursor.skip_to(end + 2);
  if (value) return append(input, word, std::to_string(*value));
  append_open(input, word, begin);
}

bool take_fallback_sign(ShellCursor& cursor) {
  for (const std::string_view sign : {":-", ":=", "-", "="}) {
    if (!cursor.is_at(sign)) continue;
    cursor.skip(sign.size());
    return true;
  }
  return false;
}

// To the brace that ends it, without quotes.
Braces read_braces(ShellInput& input, int depth) {
  ShellCursor& cursor = input.cursor;
  Braces braces;
  braces.has_fallback = take_fallback_sign(cursor);
  if (depth > k_most_defaults) return braces;
  ShellPieces text;
  while (!cursor.is_at_end() && !cursor.is_at_one_of("}\n")) {
    if (cursor.is_at_one_of("$`"))
      expand_at_depth(input, text, Expansion::whole, depth + 1);
    else if (cursor.is_at_one_of("\"'"))
      cursor.take();
    else
      append_next(input, text.last);
  }
  if (cursor.is_at('}')) cursor.take();
  braces.text = std::move(text.last);
  return braces;
}

std::string take_name(ShellCursor& cursor) {
  std::string name;
  while (!cursor.is_at_end() &&
         (std::isalnum(static_cast<unsigned char>(cursor.next())) != 0 || cursor.next() == '_'))
    name += cursor.take();
  return name;
}

// What the script set, else the default, else it stays open. The cursor stands behind the $ at `begin`.
void append_variable(ShellInput& input, ShellPieces& word, Expansion expansion, std::size_t begin,
                     int depth) {
  const bool has_braces = input.cursor.is_at('{');
  if (has_braces) input.cursor.take();
  const std::string name = take_name(input.cursor);
  static constexpr std::string_view k_here = "PWD";
  const Braces braces = has_braces ? read_braces(input, depth) : Braces{};
  const auto known = input.variables.find(name);
  const auto array = input.arrays.find(name);
  if (array != input.arrays.end() && braces.is_whole_array()) {
    append_array(input, word, array->second, expansion);
  } else if (known != input.variables.end() && !known->second.is_open && !braces.is_more() &&
             (!braces.has_fallback || !known->second.text.empty())) {
    append_value(input, word, known->second.text, expansion);
  } else if (known == input.variables.end() && k_here.compare(name) == 0 && !braces.is_more()) {
    append(input, word.last, ".");
  } else if (braces.has_fallback && !braces.text.is_open) {
    append_value(input, word, braces.text.text, expansion);
  } else {
    append_open(input, word.last, begin);
  }
}

void expand_at_depth(ShellInput& input, ShellPieces& word, Expansion expansion, int depth) {
  ShellCursor& cursor = input.cursor;
  const std::size_t begin = cursor.at;
  if (cursor.is_at('`')) return append_command(input, word.last, '`', '`', begin);
  cursor.take();
  if (cursor.is_at("((")) return append_arithmetic(input, word.last, begin);
  if (cursor.is_at('(')) return append_dollar_command(input, word.last);
  append_variable(input, word, expansion, begin, depth);
}

}  // namespace

void expand(ShellInput& input, ShellPieces& word, Expansion expansion) {
  expand_at_depth(input, word, expansion, 0);
}

}  // namespace shardlab
