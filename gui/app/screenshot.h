// `shardlab gui --screenshot`: a picture of the window or of one panel, without a display.
#pragma once

#include "gui/app/gui_options.h"

namespace shardlab::gui {

// Fails with bad_input for an unknown panel, not_possible when the file cannot be written.
Status take_screenshot(const GuiOptions& options);

}  // namespace shardlab::gui
