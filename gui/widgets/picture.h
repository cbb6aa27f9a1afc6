// Pictures in memory: what a frame looks like, drawn by the processor, and PNG files.
//
// A software rasteriser of Dear ImGui's draw lists rather than a graphics library's: it needs neither a
// display nor a driver, and the same frame gives the same bytes on a machine. Some 100 ms for a full window,
// so it is for files, not for frames.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "engine/base/result.h"

namespace shardlab::gui {

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint32_t> pixels;  // rows from the top, IM_COL32 order, opaque
};

// The frame that ImGui::Render() finished.
Picture rasterise(const ImDrawData& frame, ImU32 background);

// The part inside the rectangle, in pixels; what lies outside the picture is left out.
Picture cut_out(const Picture& picture, ImVec2 min, ImVec2 max);

// not_possible when the file cannot be written.
Status write_png(const Picture& picture, const std::filesystem::path& file);

// Makes and frees what the frame's textures ask for, for windows without a renderer. After every
// ImGui::Render().
void keep_textures(const ImDrawData& frame);

// "Copy as PNG": a part of the window as a picture file. The request is made while drawing; the shell takes
// the picture when the frame is done.
struct PictureRequest {
  ImVec2 min, max;
  std::string name;  // file name without its ending
};

// A right click in the rectangle opens a menu whose entry asks for its picture. After the plot's last item.
std::optional<PictureRequest> picture_menu(const char* name, ImVec2 min, ImVec2 max);

}  // namespace shardlab::gui
