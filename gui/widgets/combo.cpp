#include "gui/widgets/combo.h"

#include <imgui_internal.h>

namespace shardlab::gui {

bool begin_combo(const char* label, const char* preview, ImGuiComboFlags flags) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  const ImGuiID id = ImGui::GetID(label);
  const bool open = ImGui::BeginCombo(label, preview, flags);
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, 0);
  return open;
}

}  // namespace shardlab::gui
