// What a user can do from the menus, the palette and the keyboard: one list for all three.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <imgui.h>

namespace shardlab::gui {

struct ShellCommand {
  std::string menu;   // "File", "Edit" ...
  std::string title;  // "Save"
  ImGuiKeyChord chord = 0;
  bool enabled = true;
  bool checked = false;
  std::function<void()> run;
};

// "Ctrl+Shift+P"; empty for none.
std::string chord_text(ImGuiKeyChord chord);

// Runs those whose keys were pressed in this frame, unless the widget being typed into uses them.
void run_shortcuts(const std::vector<ShellCommand>& commands);

}  // namespace shardlab::gui
