#include "gui/widgets/error_text.h"

#include <imgui.h>

#include "gui/widgets/draw_markdown.h"

namespace shardlab::gui {

void draw_error(const Error& error, const Theme& theme) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.bad);
  draw_prose(message_text(error), theme);
  ImGui::PopStyleColor();
  if (error.hint.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  draw_prose(error.hint, theme);
  ImGui::PopStyleColor();
}

}  // namespace shardlab::gui
