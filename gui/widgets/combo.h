// ImGui::BeginCombo() that tests find by its label, which Dear ImGui does not report for combos.
#pragma once

#include <imgui.h>

namespace shardlab::gui {

bool begin_combo(const char* label, const char* preview, ImGuiComboFlags flags = 0);

}  // namespace shardlab::gui
