// The window itself: GLFW and OpenGL 3 around the shell.
#pragma once

#include "gui/app/gui_options.h"

namespace shardlab::gui {

// Shows the window until the user closes it. Fails with not_possible without a display or OpenGL 3.
Status run_window(const GuiOptions& options);

}  // namespace shardlab::gui
