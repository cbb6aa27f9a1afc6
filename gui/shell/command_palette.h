// The palette: type a part of what you want, press Enter.
#pragma once

#include <string>
#include <vector>

#include "gui/shell/shell_command.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Positions in `titles` whose text contains all words of the query in any order, ignoring case; those that
// begin with it first. An empty query matches all.
std::vector<std::size_t> palette_matches(const std::vector<std::string>& titles, const std::string& query);

class CommandPalette {
 public:
  void open() { opening_ = true; }
  void draw(const std::vector<ShellCommand>& commands, const Theme& theme);

 private:
  bool opening_ = false;
  std::string query_;
  int chosen_ = 0;
};

}  // namespace shardlab::gui
