// One line on stderr that is rewritten while something long runs; nothing where no terminal is there or with
// --quiet.
#pragma once

#include <chrono>
#include <string_view>

#include "engine/cli/console.h"

namespace shardlab {

class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : visible_(console.shows_progress()) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;  // there is one terminal line
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows `text`, at most ten times a second; the line is cut to the terminal.
  void show(std::string_view text);
  void clear();

 private:
  bool visible_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace shardlab
