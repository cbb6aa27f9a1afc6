#include "gui/shell/panels_aside.h"

#include <algorithm>

#include <imgui_internal.h>

#include "gui/shell/default_layout.h"

namespace shardlab::gui {
namespace {

std::string dock_name_of(const std::string& id, const std::vector<std::unique_ptr<Panel>>& panels) {
  const auto found =
      std::find_if(panels.begin(), panels.end(), [&](const auto& panel) { return panel->info().id == id; });
  return found == panels.end() ? std::string() : window_name((*found)->info());
}

// Zero: it floats, or was never drawn.
ImGuiID dock_of(const std::string& window) {
  const ImGuiWindow* const found = ImGui::FindWindowByName(window.c_str());
  return found == nullptr ? 0 : found->DockId;
}

// Where panels of the left area stand, of those that are docked elsewhere than here.
ImGuiID dock_at_the_left(ImGuiID here, const std::vector<std::unique_ptr<Panel>>& panels) {
  for (const auto& panel : panels) {
    if (panel->info().area != DockArea::left) continue;
    const ImGuiID dock = dock_of(window_name(panel->info()));
    if (dock != 0 && dock != here) return dock;
  }
  return 0;
}

}  // namespace

void PanelsAside::arrange(const std::vector<AsidePanel>& wanted,
                          const std::vector<std::unique_ptr<Panel>>& panels,
                          std::vector<std::string>& to_front) {
  for (const AsidePanel& each : wanted) {
    const auto is_it = [&](const Moved& moved) { return moved.what == each; };
    if (std::any_of(moved_.begin(), moved_.end(), is_it)) continue;
    const std::string window = dock_name_of(each.panel, panels);
    const ImGuiID home = dock_of(window);
    if (home == 0 || home != dock_of(dock_name_of(each.beside, panels))) continue;
    const ImGuiID there = dock_at_the_left(home, panels);
    if (there == 0) continue;
    moved_.push_back({each, home, there});
    ImGui::DockBuilderDockWindow(window.c_str(), there);
    to_front.insert(to_front.end(), {each.panel, each.beside});
  }
  std::erase_if(moved_, [&](const Moved& moved) {
    if (std::find(wanted.begin(), wanted.end(), moved.what) != wanted.end()) return false;
    const std::string window = dock_name_of(moved.what.panel, panels);
    // One that a person has put elsewhere meanwhile stays there.
    if (dock_of(window) != moved.there) return true;
    ImGui::DockBuilderDockWindow(window.c_str(), moved.home);
    to_front.push_back(moved.what.beside);
    return true;
  });
}

}  // namespace shardlab::gui
