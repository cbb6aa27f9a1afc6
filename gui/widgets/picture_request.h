// "Copy as PNG": a part of the window as a picture file. The request is made while drawing; the shell takes
// the picture when the frame is done.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <imgui.h>

namespace shardlab::gui {

struct PictureRequest {
  ImVec2 min, max;
  std::string name;  // file name without its ending
};

// A right click in the rectangle opens a menu whose entry asks for its picture. After the plot's last item.
std::optional<PictureRequest> picture_menu(const char* name, ImVec2 min, ImVec2 max);

}  // namespace shardlab::gui
