// shardlab-gui: the desktop window. Started by `shardlab gui`.
#include <cstdio>
#include <string>
#include <variant>

#include "engine/base/text/printable.h"
#include "gui/app/desktop_window.h"
#include "gui/app/screenshot.h"

namespace {

int report(const shardlab::Error& error) {
  std::fprintf(stderr, "error: %s\n", shardlab::printable(message_text(error)).c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "  hint: %s\n", shardlab::printable(error.hint).c_str());
  return shardlab::exit_code(error.kind);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace shardlab::gui;
  const auto read = read_options(argc, argv);
  if (!read) return report(read.error());
  if (const auto* const help = std::get_if<std::string>(&*read)) {
    std::fputs(help->c_str(), stdout);
    return 0;
  }
  const auto& options = std::get<GuiOptions>(*read);
  const auto done = options.screenshot.empty() ? run_window(options) : take_screenshot(options);
  return done ? 0 : report(done.error());
}
