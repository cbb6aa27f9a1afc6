// Names for what Dear ImGui has none for, so that tests find it as they find other widgets.
#pragma once

#include <imgui.h>

namespace shardlab::gui {

// Tabs, combos and headings do not tell Dear ImGui their label themselves: call it right after them.
void name_last_item(const char* label);

// A hand-drawn rectangle.
void named_area(const char* label, ImVec2 min, ImVec2 max);

}  // namespace shardlab::gui
