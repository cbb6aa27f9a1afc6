// A hand-drawn rectangle under a name, so that tests find it as they find widgets.
#pragma once

#include <imgui.h>

namespace shardlab::gui {

void named_area(const char* label, ImVec2 min, ImVec2 max);

}  // namespace shardlab::gui
