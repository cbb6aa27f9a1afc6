// A tab that tests find by its title.
#pragma once

namespace shardlab::gui {

// As ImGui::BeginTabItem: where it is true, ImGui::EndTabItem() follows.
bool begin_tab(const char* title);

}  // namespace shardlab::gui
