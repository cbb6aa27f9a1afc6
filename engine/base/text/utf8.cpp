#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

bool continues_at(std::string_view text, std::size_t at) {
  return (byte_at(text, at) & 0xc0U) == 0x80U;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned first = byte_at(text, 0), second = byte_at(text, 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues_at(text, 1) ? 2 : 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  if (first >= 0xe0 && first <= 0xef) return continues_at(text, 2) ? 3 : 0;
  if (first >= 0xf0 && first <= 0xf4) return continues_at(text, 2) && continues_at(text, 3) ? 4 : 0;
  return 0;
}

bool is_control_character(std::string_view character) {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character.size() == 2 && first == 0xc2 && byte_at(character, 1) < 0xa0;
}

std::string_view whole_characters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr int k_longest_character = 4;
  for (int i = 1; i < k_longest_character && most > 0 && continues_at(text, most); ++i) --most;
  return text.substr(0, most);
}

}  // namespace shardlab
