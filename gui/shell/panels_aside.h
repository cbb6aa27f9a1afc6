// Panels that stand in another place for a while, so that they do not cover the panel that speaks of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <imgui.h>

#include "gui/shell/panel.h"

namespace shardlab::gui {

class PanelsAside {
 public:
  // Moves panels that are wanted aside into the place of the first panel of the left area, and those that are
  // not any more back to where they were. Call it between frames of their windows.
  void arrange(const std::vector<AsidePanel>& wanted, const std::vector<std::unique_ptr<Panel>>& panels,
               std::vector<std::string>& to_front);
  // While there are any, the layout is not the one that a person made.
  bool any() const { return !moved_.empty(); }

 private:
  struct Moved {
    AsidePanel what;
    ImGuiID home = 0, there = 0;  // docks
  };
  std::vector<Moved> moved_;
};

}  // namespace shardlab::gui
