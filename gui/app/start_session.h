// A session as the command line asks for it.
#pragma once

#include "gui/app/gui_options.h"
#include "gui/session/session.h"

namespace shardlab::gui {

// Opens the database and the scenario; what fails is told in the window.
void start_session(Session& session, const GuiOptions& options);

// Makes the edit of --edit and chooses what --select and --runs name, once there is a prediction.
void choose_as_asked(Session& session, const GuiOptions& options);

}  // namespace shardlab::gui
