#include "engine/base/text/rank_prefix.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/lower_case.h"

namespace shardlab {
namespace {

constexpr std::size_t k_longest_prefix = 120;
constexpr int k_ranks_end = 1 << 20;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number that begins the text, and its length; nothing for none or one that is no rank.
std::optional<std::pair<int, std::size_t>> leading_number(std::string_view text) {
  std::size_t length = 0;
  int value = 0;
  while (length < text.size() && is_digit(text[length])) {
    value = value * 10 + (text[length++] - '0');
    if (value > k_ranks_end) return std::nullopt;
  }
  if (length == 0) return std::nullopt;
  return std::pair{value, length};
}

void skip_spaces(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// `3: ` as srun --label writes it; `12:30:11` is a time.
std::optional<int> take_label(std::string_view& text) {
  const auto number = leading_number(text);
  if (!number || number->second + 1 >= text.size()) return std::nullopt;
  if (text[number->second] != ':' || text[number->second + 1] != ' ') return std::nullopt;
  text.remove_prefix(number->second + 2);
  return number->first;
}

// The rank that the inside of a pair of brackets names.
std::optional<int> rank_in(std::string_view inside) {
  const std::string lower = in_lower_case(inside);
  constexpr std::array<std::string_view, 4> words = {"rank", "default", "trainer", "local_rank"};
  for (const std::string_view word : words) {
    const std::size_t at = lower.rfind(word);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(lower).substr(at + word.size());
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':' || rest.front() == '='))
      rest.remove_prefix(1);
    if (const auto number = leading_number(rest)) return number->first;
  }
  const std::size_t comma = lower.find(',');  // [1,3]<stderr>
  if (comma != std::string::npos && comma > 0 &&
      std::all_of(lower.begin(), lower.begin() + static_cast<long>(comma), is_digit)) {
    if (const auto number = leading_number(std::string_view(lower).substr(comma + 1));
        number && comma + 1 + number->second == lower.size())
      return number->first;
  }
  return std::nullopt;
}

// A bracketed prefix with what follows it: `[...]:`, `(...)`, `[...]<stderr>:`.
bool take_brackets(std::string_view& text, std::optional<int>& rank) {
  const char open = text.front();
  if (open != '[' && open != '(') return false;
  const std::size_t close = text.substr(0, k_longest_prefix).find(open == '[' ? ']' : ')');
  if (close == std::string_view::npos) return false;
  const auto found = rank_in(text.substr(1, close - 1));
  if (found && !rank) rank = found;
  text.remove_prefix(close + 1);
  if (text.starts_with("<stderr>") || text.starts_with("<stdout>")) text.remove_prefix(8);
  if (!text.empty() && text.front() == ':') text.remove_prefix(1);
  return true;
}

// A time of day or a date: digits with `:`, `-`, `/`, `.`, `T`, `,` between.
bool take_time(std::string_view& text) {
  std::size_t length = 0;
  bool separated = false;
  while (length < text.size() && (is_digit(text[length]) || std::string_view(":-/.,T+Z").find(text[length]) !=
                                                                std::string_view::npos)) {
    separated |= !is_digit(text[length]);
    ++length;
  }
  if (length < 5 || !separated || !is_digit(text.front()) || (length < text.size() && text[length] != ' '))
    return false;
  text.remove_prefix(length);
  return true;
}

// `worker-0: `, `node1: `: a host's name with a digit in it, as pdsh writes it.
bool take_host(std::string_view& text) {
  const std::size_t colon = text.substr(0, 64).find(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view name = text.substr(0, colon);
  const auto part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
  };
  if (!std::all_of(name.begin(), name.end(), part_of_name) ||
      !std::any_of(name.begin(), name.end(), is_digit))
    return false;
  text.remove_prefix(colon + 2);
  return true;
}

// `[rank=5]` behind what no launcher that is known here writes.
std::optional<int> rank_anywhere(std::string_view line) {
  const std::string head = in_lower_case(line.substr(0, k_longest_prefix));
  const std::size_t at = head.find("[rank");
  const std::size_t close = at == std::string::npos ? at : head.find(']', at);
  if (close == std::string::npos) return std::nullopt;
  return rank_in(std::string_view(head).substr(at + 1, close - at - 1));
}

}  // namespace

RankedLine rank_of_line(std::string_view line) {
  RankedLine ranked{std::nullopt, line};
  for (int prefixes = 0; prefixes < 6 && !ranked.text.empty(); ++prefixes) {
    std::string_view rest = ranked.text;
    skip_spaces(rest);
    if (rest.empty()) break;
    if (const auto label = take_label(rest)) {
      if (!ranked.rank) ranked.rank = label;
    } else if (!take_brackets(rest, ranked.rank) && !take_time(rest) && !take_host(rest)) {
      break;
    }
    ranked.text = rest;
  }
  if (!ranked.rank) ranked.rank = rank_anywhere(line);
  return ranked;
}

}  // namespace shardlab
