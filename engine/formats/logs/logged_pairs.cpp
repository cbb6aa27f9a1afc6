#include "engine/formats/logs/logged_pairs.h"

#include "engine/formats/logs/line_numbers.h"

namespace shardlab {

bool visit_logged_pairs(std::string_view text, const std::function<void(std::string_view, double)>& take) {
  bool taken = false;
  while (true) {
    const std::size_t open = text.find('\'');
    if (open == std::string_view::npos) return taken;
    const std::size_t close = text.find('\'', open + 1);
    if (close == std::string_view::npos) return taken;
    const std::string_view name = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    if (!text.starts_with(':')) continue;
    std::string_view value = text.substr(1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    const bool quoted = value.starts_with('\'');
    if (quoted) value.remove_prefix(1);
    if (const auto number = leading_number(value)) {
      take(name, *number);
      taken = true;
    }
    // A value in quotes must not be taken for the next name.
    if (quoted) {
      const std::size_t end = value.find('\'');
      if (end == std::string_view::npos) return taken;
      text = value.substr(end + 1);
    } else {
      text = value;
    }
  }
}

}  // namespace shardlab
