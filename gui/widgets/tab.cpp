#include "gui/widgets/tab.h"

#include "gui/widgets/named_area.h"

namespace shardlab::gui {

bool begin_tab(const char* title) {
  const bool shown = ImGui::BeginTabItem(title);
  name_last_item(title);
  return shown;
}

}  // namespace shardlab::gui
