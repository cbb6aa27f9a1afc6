#include "gui/widgets/picture_request.h"

namespace shardlab::gui {

std::optional<PictureRequest> picture_menu(const char* name, ImVec2 min, ImVec2 max) {
  std::optional<PictureRequest> request;
  ImGui::PushID(name);
  const bool clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Right) &&
                       ImGui::IsMouseHoveringRect(min, max) && ImGui::IsWindowHovered() &&
                       ImGui::GetMouseDragDelta(ImGuiMouseButton_Right).x == 0;
  if (clicked) ImGui::OpenPopup("picture menu");
  if (ImGui::BeginPopup("picture menu")) {
    if (ImGui::MenuItem("Save as PNG")) request = PictureRequest{min, max, name};
    ImGui::EndPopup();
  }
  ImGui::PopID();
  return request;
}

}  // namespace shardlab::gui
