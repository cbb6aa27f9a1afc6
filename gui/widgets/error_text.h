// An error within a panel: what is wrong in the colour of mistakes, and the hint below it.
#pragma once

#include "engine/base/result.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Wrapped at the edge of the window.
void draw_error(const Error& error, const Theme& theme);

}  // namespace shardlab::gui
