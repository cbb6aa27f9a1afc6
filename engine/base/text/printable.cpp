#include "engine/base/text/printable.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/text/colours.h"
#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

std::size_t length_of_colour(std::string_view text) {
  const auto found = std::find_if(colours::k_all.begin(), colours::k_all.end(),
                                  [&](std::string_view colour) { return text.starts_with(colour); });
  return found == colours::k_all.end() ? 0 : found->size();
}

// How many bytes at the beginning are shown as they are.
std::size_t harmless_length(std::string_view text, Colours colours) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::string_view rest = text.substr(length);
    const std::size_t next = utf8_length(rest);
    const bool obeyed = next > 0 && is_control_character(rest.substr(0, next));
    if (next > 0 && (!obeyed || rest.front() == '\n' || rest.front() == '\t')) {
      length += next;
      continue;
    }
    const std::size_t colour = colours == Colours::kept ? length_of_colour(rest) : 0;
    if (colour == 0) break;
    length += colour;
  }
  return length;
}

// The first character of a text, which is a control character, or its first byte, which begins none.
std::string escaped(std::string_view text, std::size_t length) {
  const auto last = static_cast<unsigned char>(text[length == 0 ? 0 : length - 1]);
  return length == 0 ? fmt::format("\\x{:02x}", last) : fmt::format("\\u{:04x}", last);
}

}  // namespace

std::string printable(std::string_view text, Colours colours) {
  std::string out;
  while (true) {
    const std::size_t harmless = harmless_length(text, colours);
    out += text.substr(0, harmless);
    text.remove_prefix(harmless);
    if (text.empty()) return out;
    const std::size_t length = utf8_length(text);
    out += escaped(text, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
}

bool is_printable(std::string_view text, Colours colours) {
  return harmless_length(text, colours) == text.size();
}

}  // namespace shardlab
