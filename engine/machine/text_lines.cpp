#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";

std::vector<std::string_view> pieces_of(std::string_view text, std::string_view ends) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t begin = text.find_first_not_of(ends);
    if (begin == std::string_view::npos) return pieces;
    const std::size_t end = std::min(text.size(), text.find_first_of(ends, begin));
    pieces.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  return pieces_of(text, "\r\n");
}

std::vector<std::string_view> words_in(std::string_view line) {
  return pieces_of(line, k_blanks);
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(k_blanks) + 1 - begin));
}

std::string word_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const auto words = words_in(text.substr(at + name.size()));
  return words.empty() ? std::string() : std::string(words.front());
}

}  // namespace shardlab
