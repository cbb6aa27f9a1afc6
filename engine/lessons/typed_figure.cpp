#include <algorithm>
#include <array>
#include <cctype>

#include "engine/lessons/lesson_text.h"

namespace shardlab::lessons {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// Behind these words a number is a name.
constexpr std::array<std::string_view, 13> k_naming = {"rank",    "ranks", "layer",    "layers", "step",
                                                       "lesson",  "stage", "version",  "part",   "torch",
                                                       "PyTorch", "ZeRO",  "DeepSpeed"};

bool is_named(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin, end - begin);
  return std::find(k_naming.begin(), k_naming.end(), word) != k_naming.end();
}

// The end of a word: FSDP2, float16, H100, ZeRO-1.
bool ends_word(std::string_view text, std::size_t begin) {
  const char before = begin > 0 ? text[begin - 1] : ' ';
  return is_letter(before) || before == '_' ||
         (before == '-' && begin > 1 && std::isalnum(static_cast<unsigned char>(text[begin - 2])) != 0);
}

bool has_unit(std::string_view text, std::size_t end) {
  constexpr std::array<std::string_view, 14> k_sizes = {"KiB", "MiB",   "GiB", "TiB", "KB", "MB", "GB",
                                                        "TB",  "bytes", "B",   "ms",  "us", "s",  "%"};
  while (end < text.size() && text[end] == ' ') ++end;
  return std::any_of(k_sizes.begin(), k_sizes.end(), [&](std::string_view unit) {
    const std::size_t behind = end + unit.size();
    return text.substr(end).starts_with(unit) && (behind >= text.size() || !is_letter(text[behind]));
  });
}

// The number at `at`, with its points and commas.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_digit(text[at]) || ((text[at] == '.' || text[at] == ',') &&
                                                     at + 1 < text.size() && is_digit(text[at + 1]))))
    ++at;
  return at;
}

}  // namespace

std::optional<std::string> typed_figure(std::string_view text) {
  bool in_code = false;
  bool in_link = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '`') in_code = !in_code;
    if (text.substr(at).starts_with("](") || text.substr(at).starts_with("://")) in_link = true;
    if (text[at] == ')' || text[at] == ' ' || text[at] == '\n') in_link = false;
    // Numbers at the beginning of a line number a list.
    const bool numbers_list = at == 0 || text[at - 1] == '\n';
    if (!is_digit(text[at]) || in_link) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_number(text, at);
    const bool lists = numbers_list && text.substr(end).starts_with(". ");
    const bool begins_word = end < text.size() && (is_letter(text[end]) || text[end] == '_');
    const bool figure =
        !ends_word(text, at) && (has_unit(text, end) || (!in_code && !begins_word && !is_named(text, at)));
    if (figure && !lists) return std::string(text.substr(at, end - at));
    at = end;
  }
  return std::nullopt;
}

}  // namespace shardlab::lessons
