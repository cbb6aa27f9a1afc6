#include "engine/cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "engine/base/text/printable.h"
#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

constexpr std::chrono::milliseconds k_shortest_interval{100};
constexpr std::string_view k_return_and_erase = "\r\x1b[K";

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

void write_line(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

void ProgressLine::show(std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || (shown_ && now - last_ < k_shortest_interval)) return;
  last_ = now;
  shown_ = true;
  const std::string shown = printable(text);
  write_line(std::string(k_return_and_erase) + std::string(whole_characters(shown, terminal_columns())));
}

void ProgressLine::clear() {
  if (shown_) write_line(std::string(k_return_and_erase));
  shown_ = false;
}

}  // namespace shardlab
