#include "tests/mutated/mutations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace shardlab::test {
namespace {

constexpr std::array k_strange = {
    "-1",
    "0",
    "18446744073709551616",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "nan",
    "inf",
    "null",
    "~",
    "true",
    "{}",
    "[]",
    "\"\"",
    "''",
    "*a",
    "&a",
    "!!binary",
    "\t",
    "\n",
    "\r",
    "\\",
    "$(id)",
    "${X}",
    "--",
    "%s%n",
    "\x1b[31m",
    "\xff\xfe",
    "\xc3",
    "\xed\xa0\x80",
    "e",
    ".",
    "1.",
    "0x",
    "999999999",
};

std::size_t below(std::size_t bound, std::mt19937_64& engine) {
  return bound == 0 ? 0 : static_cast<std::size_t>(engine() % bound);
}

struct Range {
  std::size_t begin, size;
};
Range some_range(const std::string& text, std::mt19937_64& engine) {
  const std::size_t begin = below(text.size() + 1, engine);
  const std::size_t most = std::min<std::size_t>(text.size() - begin, std::size_t{1} << below(12, engine));
  return {begin, below(most + 1, engine)};
}

void flip(std::string& text, std::mt19937_64& engine) {
  if (text.empty()) return;
  char& byte = text[below(text.size(), engine)];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << below(8, engine)));
}

// A run of digits, or of letters, becomes something else.
void replace_word(std::string& text, std::mt19937_64& engine) {
  const auto is_word = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  std::size_t begin = below(text.size() + 1, engine);
  while (begin < text.size() && !is_word(begin)) ++begin;
  while (begin > 0 && is_word(begin - 1)) --begin;
  std::size_t end = begin;
  while (is_word(end)) ++end;
  text.replace(begin, end - begin, k_strange[below(k_strange.size(), engine)]);
}

void nest(std::string& text, std::mt19937_64& engine) {
  constexpr std::array k_opening = {'[', '{', '(', '"', '\'', '-', ' ', ':'};
  const std::size_t depth = std::size_t{1} << below(14, engine);
  text.insert(below(text.size() + 1, engine), depth, k_opening[below(k_opening.size(), engine)]);
}

void damage(std::string& text, const std::vector<std::string>& others, std::mt19937_64& engine) {
  const Range range = some_range(text, engine);
  switch (below(9, engine)) {
    case 0: flip(text, engine); break;
    case 1: text.erase(range.begin, range.size); break;
    case 2: text.insert(range.begin, text.substr(range.begin, range.size)); break;
    case 3: text.insert(below(text.size() + 1, engine), text.substr(range.begin, range.size)); break;
    case 4: text.insert(range.begin, k_strange[below(k_strange.size(), engine)]); break;
    case 5: text.resize(range.begin); break;
    case 6: nest(text, engine); break;
    case 7: {
      const std::string& other = others[below(others.size(), engine)];
      const Range piece = some_range(other, engine);
      text.replace(range.begin, range.size, other, piece.begin, piece.size);
      break;
    }
    default: replace_word(text, engine);
  }
}

}  // namespace

std::string mutated(std::string text, const std::vector<std::string>& others, std::mt19937_64& engine) {
  for (std::size_t left = 1 + below(4, engine); left > 0; --left) damage(text, others, engine);
  return text;
}

}  // namespace shardlab::test
