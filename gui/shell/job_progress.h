// How far a run that the window started has come.
#pragma once

#include "gui/view_model/job.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// A bar: its steps as far as they are counted, else what it is doing; nothing where it has ended without any.
// Below it what went wrong.
void draw_job_progress(const view::Job& job, const Theme& theme);

}  // namespace shardlab::gui
