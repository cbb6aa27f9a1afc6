// Where the widgets of the last frame are and what they are called, for tests that click and type.
//
// Dear ImGui reports each item while a probe is installed; without one nothing is recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <imgui.h>

namespace shardlab::gui {

struct ProbedItem {
  std::string window;  // as Dear ImGui names it: children are "parent/child_12345678"
  std::string label;   // as the code wrote it, with what follows ##
  ImVec2 min, max;     // as far as it is visible
  bool visible = false;
  bool disabled = false;
};

class ItemProbe {
 public:
  // Installs itself in the current Dear ImGui context; one at a time.
  ItemProbe();
  ~ItemProbe();
  ItemProbe(const ItemProbe&) = delete;
  ItemProbe& operator=(const ItemProbe&) = delete;

  void begin_frame();
  // The items of the frame drawn last, in drawing order.
  const std::vector<ProbedItem>& items() const { return items_; }

 private:
  std::vector<ProbedItem> items_;
};

}  // namespace shardlab::gui
