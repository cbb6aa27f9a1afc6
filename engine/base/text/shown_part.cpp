#include "engine/base/text/shown_part.h"

#include <fmt/format.h>

#include "engine/base/text/utf8.h"

namespace shardlab {

std::string shown_part(std::string_view text, std::size_t most) {
  constexpr std::size_t k_room_for_rest = 40;
  if (text.size() <= most) return std::string(text);
  const std::string_view beginning = whole_characters(text, most - k_room_for_rest);
  return fmt::format("{}... ({} bytes more)", beginning, text.size() - beginning.size());
}

}  // namespace shardlab
