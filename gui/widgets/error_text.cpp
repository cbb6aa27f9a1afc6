#include "gui/widgets/error_text.h"

#include <imgui.h>

namespace shardlab::gui {

void draw_error(const Error& error, const Theme& theme) {
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.bad);
  ImGui::TextUnformatted(message_text(error).c_str());
  ImGui::PopStyleColor();
  if (!error.hint.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
    ImGui::TextUnformatted(error.hint.c_str());
    ImGui::PopStyleColor();
  }
  ImGui::PopTextWrapPos();
}

}  // namespace shardlab::gui
