// Messages in the lower right corner of the window. News goes by itself; warnings and errors stay until they
// are closed or over.
#pragma once

#include "gui/session/messages.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

void draw_messages(Messages& messages, const Theme& theme, double now);

}  // namespace shardlab::gui
