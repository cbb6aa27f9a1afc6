#include "engine/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace shardlab {
namespace {

constexpr int k_default_width = 80;  // of a terminal that does not tell
constexpr int k_uncut_width = 200;   // where there is none
constexpr int k_least_width = 40;
constexpr int k_greatest_width = 500;

// 0 when unset or no number.
int columns_from_environment() {
  const char* text = std::getenv("COLUMNS");
  if (text == nullptr) return 0;
  const std::string_view view = text;
  int columns = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), columns);
  return error == std::errc() && end == view.data() + view.size() ? columns : 0;
}

bool colours_wanted() {
  const char* refused = std::getenv("NO_COLOR");  // https://no-color.org
  const char* terminal = std::getenv("TERM");
  return (refused == nullptr || *refused == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

TextStyle text_style(int file_descriptor) {
  int width = columns_from_environment();
  const bool terminal = isatty(file_descriptor) == 1;
  winsize size{};
  if (terminal && ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width = size.ws_col;
  if (width <= 0) width = terminal ? k_default_width : k_uncut_width;
  return {std::clamp(width, k_least_width, k_greatest_width), terminal && colours_wanted()};
}

}  // namespace shardlab
