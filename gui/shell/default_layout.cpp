#include "gui/shell/default_layout.h"

#include <algorithm>

#include <imgui_internal.h>

namespace shardlab::gui {

std::string window_name(const PanelInfo& info) {
  return info.title + "###" + info.id;
}

void build_default_layout(ImGuiID dock_space, ImVec2 size,
                          const std::vector<std::unique_ptr<Panel>>& panels) {
  ImGui::DockBuilderRemoveNode(dock_space);
  ImGui::DockBuilderAddNode(dock_space, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dock_space, size);
  ImGuiID centre = dock_space;
  ImGuiID areas[4] = {};
  const auto split = [&](DockArea area, ImGuiDir direction, float share) {
    areas[static_cast<int>(area)] = ImGui::DockBuilderSplitNode(centre, direction, share, nullptr, &centre);
  };
  split(DockArea::left, ImGuiDir_Left, 0.29F);
  split(DockArea::right, ImGuiDir_Right, 0.36F);
  split(DockArea::bottom, ImGuiDir_Down, 0.42F);
  areas[static_cast<int>(DockArea::centre)] = centre;

  std::vector<PanelInfo> order;
  for (const auto& panel : panels) order.push_back(panel->info());
  std::stable_sort(order.begin(), order.end(),
                   [](const PanelInfo& a, const PanelInfo& b) { return a.rank < b.rank; });
  for (const PanelInfo& info : order)
    ImGui::DockBuilderDockWindow(window_name(info).c_str(), areas[static_cast<int>(info.area)]);
  ImGui::DockBuilderFinish(dock_space);
}

}  // namespace shardlab::gui
