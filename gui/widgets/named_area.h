// Names for what Dear ImGui has none for (areas, combos, tabs), so that tests find it as they find other
// widgets.
#pragma once

#include <string>

#include <imgui.h>

namespace shardlab::gui {

// Tabs, combos and headings do not tell Dear ImGui their label themselves: call it right after them.
void name_last_item(const char* label);

// A hand-drawn rectangle.
void named_area(const char* label, ImVec2 min, ImVec2 max);

// The text drawn last, which tests find by its words.
void name_text(const std::string& text);

// ImGui::BeginCombo() that tests find by its label, which Dear ImGui does not report for combos.
bool begin_combo(const char* label, const char* preview, ImGuiComboFlags flags = 0);

// A tab that tests find by its title.

// As ImGui::BeginTabItem: where it is true, ImGui::EndTabItem() follows.
bool begin_tab(const char* title);

}  // namespace shardlab::gui
