#include "engine/base/text_place.h"

#include <algorithm>

namespace shardlab {

std::optional<TextPlace> text_place(const Place& place) {
  if (place.line <= 0) return std::nullopt;
  return TextPlace{static_cast<std::size_t>(place.line), static_cast<std::size_t>(std::max(place.column, 1))};
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

}  // namespace shardlab
