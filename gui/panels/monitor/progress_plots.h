// Loss, tokens per second and memory of a run while it trains. Private to this folder.
#pragma once

#include "gui/view_model/job_output.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Side by side; a quantity that was not told has no plot.
void draw_progress_plots(const view::JobOutput& output, float height, const Theme& theme);

}  // namespace shardlab::gui
