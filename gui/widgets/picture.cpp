#include "gui/widgets/picture.h"

#include <algorithm>

#include <stb_image_write.h>

#include "engine/base/output_file.h"

namespace shardlab::gui {

Picture cut_out(const Picture& picture, ImVec2 min, ImVec2 max) {
  const int left = std::clamp(static_cast<int>(min.x), 0, picture.width);
  const int top = std::clamp(static_cast<int>(min.y), 0, picture.height);
  const int right = std::clamp(static_cast<int>(max.x), left, picture.width);
  const int bottom = std::clamp(static_cast<int>(max.y), top, picture.height);
  Picture part;
  part.width = right - left;
  part.height = bottom - top;
  for (int y = top; y < bottom; ++y) {
    const auto row = picture.pixels.begin() + static_cast<std::ptrdiff_t>(y) * picture.width;
    part.pixels.insert(part.pixels.end(), row + left, row + right);
  }
  return part;
}

Status write_png(const Picture& picture, const std::filesystem::path& file) {
  std::string png;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                               static_cast<std::size_t>(size));
  };
  const int made = stbi_write_png_to_func(append, &png, picture.width, picture.height, 4,
                                          picture.pixels.data(), picture.width * 4);
  if (made == 0) return not_possible(in_file(file.string()), "the picture cannot be made");
  return write_output_file(file, png);
}

void keep_textures(const ImDrawData& frame) {
  if (frame.Textures == nullptr) return;
  for (ImTextureData* const texture : *frame.Textures) {
    if (texture->Status == ImTextureStatus_WantCreate || texture->Status == ImTextureStatus_WantUpdates) {
      texture->SetTexID(1);  // any; the rasteriser reads the pixels where they are
      texture->SetStatus(ImTextureStatus_OK);
    } else if (texture->Status == ImTextureStatus_WantDestroy && texture->UnusedFrames > 0) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
  }
}

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
