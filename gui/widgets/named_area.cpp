#include "gui/widgets/named_area.h"

#include <imgui_internal.h>

namespace shardlab::gui {

void name_last_item(const char* label) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  IMGUI_TEST_ENGINE_ITEM_INFO(g.LastItemData.ID, label, 0);
}

void named_area(const char* label, ImVec2 min, ImVec2 max) {
  const ImGuiID id = ImGui::GetID(label);
  if (!ImGui::ItemAdd(ImRect(min, max), id, nullptr, ImGuiItemFlags_NoNav)) return;
  ImGuiContext& g = *ImGui::GetCurrentContext();  // the name that the macro expects
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, 0);
}

void name_text(const std::string& text) {
  named_area(text.c_str(), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

bool begin_combo(const char* label, const char* preview, ImGuiComboFlags flags) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  const ImGuiID id = ImGui::GetID(label);
  const bool open = ImGui::BeginCombo(label, preview, flags);
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, 0);
  return open;
}

bool begin_tab(const char* title) {
  const bool shown = ImGui::BeginTabItem(title);
  name_last_item(title);
  return shown;
}

}  // namespace shardlab::gui
