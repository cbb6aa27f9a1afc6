// Where panels are when nobody has moved them.
#pragma once

#include <memory>
#include <vector>

#include "gui/shell/panel.h"

namespace shardlab::gui {

// The name of a panel's window: its title for people, its id for the layout.
std::string window_name(const PanelInfo& info);

// Splits the dock space and puts every panel's window into its area.
void build_default_layout(ImGuiID dock_space, ImVec2 size, const std::vector<std::unique_ptr<Panel>>& panels);

}  // namespace shardlab::gui
