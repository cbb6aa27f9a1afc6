// Where the widgets of the real window are, kept in a file: for scripts that press what a person presses
// (tests/window).
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/result.h"
#include "gui/shell/item_probe.h"

namespace shardlab::gui {

// Lives no longer than Dear ImGui's context. Around every frame: begin_frame(), then write().
class ItemFile {
 public:
  explicit ItemFile(std::filesystem::path file) : file_(std::move(file)) {}

  void begin_frame() { probe_.begin_frame(); }
  // The visible widgets that have a name, in drawing order, and whether there is more to come without any
  // input. Nothing is written while nothing changes.
  Status write(bool busy);

 private:
  std::filesystem::path file_;
  ItemProbe probe_;
  std::string written_;
};

}  // namespace shardlab::gui
