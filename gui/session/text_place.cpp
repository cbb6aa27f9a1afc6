#include "gui/session/text_place.h"

#include <algorithm>
#include <charconv>

namespace shardlab::gui {
namespace {

// The number behind the last colon, which is cut off; none when there is none.
std::optional<std::size_t> cut_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end || number == 0) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

}  // namespace

std::optional<TextPlace> place_of(std::string_view where) {
  const auto column = cut_number(where);
  if (!column) return std::nullopt;
  const auto line = cut_number(where);
  if (!line) return std::nullopt;
  return TextPlace{*line, *column};
}

std::size_t offset_of(std::string_view text, TextPlace place) {
  std::size_t begin = 0;
  for (std::size_t line = 1; line < place.line; ++line) {
    const std::size_t next = text.find('\n', begin);
    if (next == std::string_view::npos) return text.size();
    begin = next + 1;
  }
  return std::min(begin + place.column - 1, text.size());
}

LineRange line_at(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t end = text.find('\n', offset);
  return {before == std::string_view::npos ? 0 : before + 1,
          end == std::string_view::npos ? text.size() : end};
}

}  // namespace shardlab::gui
