// All panels, in the order of their names. The list is made by the build from the folders of gui/panels.
#pragma once

#include <memory>
#include <vector>

#include "gui/shell/panel.h"

namespace shardlab::gui {

std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace shardlab::gui
