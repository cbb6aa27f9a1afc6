#include "gui/shell/shell_command.h"

#include <imgui_internal.h>

namespace shardlab::gui {

std::string chord_text(ImGuiKeyChord chord) {
  return chord == 0 ? "" : ImGui::GetKeyChordName(chord);
}

void run_shortcuts(const std::vector<ShellCommand>& commands) {
  for (const ShellCommand& command : commands) {
    if (command.chord == 0 || !ImGui::Shortcut(command.chord, ImGuiInputFlags_RouteGlobal)) continue;
    if (command.enabled) command.run();
  }
}

}  // namespace shardlab::gui
