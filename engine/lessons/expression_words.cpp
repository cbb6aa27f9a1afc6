#include "engine/lessons/expression_words.h"

#include <array>

#include <fmt/format.h>

namespace shardlab::lessons {
namespace {

using WordKind = ExpressionWord::Kind;

bool is_numeral_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Two characters before one: "<=" is no "<".
constexpr std::array<std::string_view, 13> k_signs = {"==", "!=", "<=", ">=", "<", ">", "+",
                                                      "-",  "*",  "/",  "(",  ")", ","};

std::size_t end_of_numeral(std::string_view source, std::size_t at) {
  while (at < source.size() && (is_numeral_digit(source[at]) || source[at] == '.' || source[at] == ',')) {
    // A comma between digits groups them; else it ends the number.
    if (source[at] == ',' && (at + 1 >= source.size() || !is_numeral_digit(source[at + 1]))) break;
    ++at;
  }
  if (at < source.size() && source[at] == 'e' && at + 1 < source.size() && is_numeral_digit(source[at + 1])) {
    ++at;
    while (at < source.size() && is_numeral_digit(source[at])) ++at;
  }
  return at;
}

std::size_t end_of_name(std::string_view source, std::size_t at) {
  while (at < source.size() && (is_of_name(source[at]) || is_numeral_digit(source[at]))) ++at;
  return at;
}

}  // namespace

Result<std::vector<ExpressionWord>> expression_words(std::string_view source) {
  std::vector<ExpressionWord> words;
  std::size_t at = 0;
  const auto take = [&](WordKind kind, std::size_t end) {
    words.push_back({kind, std::string(source.substr(at, end - at)), static_cast<int>(at) + 1});
    at = end;
  };
  while (at < source.size()) {
    const char c = source[at];
    if (c == ' ' || c == '\t' || c == '\n') {
      ++at;
    } else if (is_numeral_digit(c)) {
      take(WordKind::number, end_of_numeral(source, at));
    } else if (is_of_name(c)) {
      take(WordKind::name, end_of_name(source, at));
    } else if (c == '%') {
      take(WordKind::name, at + 1);  // a unit
    } else if (c == '"' || c == '\'') {
      const std::size_t end = source.find(c, at + 1);
      if (end == std::string_view::npos)
        return bad_input({}, fmt::format("the quote at column {} is not closed", at + 1));
      words.push_back(
          {WordKind::text, std::string(source.substr(at + 1, end - at - 1)), static_cast<int>(at) + 1});
      at = end + 1;
    } else {
      std::size_t length = 0;
      for (const std::string_view sign : k_signs) {
        if (length == 0 && source.substr(at).starts_with(sign)) length = sign.size();
      }
      if (length == 0)
        return bad_input({}, fmt::format("'{}' at column {} is no part of an expression", c, at + 1));
      take(WordKind::sign, at + length);
    }
  }
  words.push_back({WordKind::end, {}, static_cast<int>(source.size()) + 1});
  return words;
}

}  // namespace shardlab::lessons
