// Alive buffers as boxes on shelves, a shelf a class, as wide as they are large. Private to this folder.
#pragma once

#include <optional>

#include "gui/view_model/loaded_run.h"
#include "gui/view_model/step_player.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Fills the room that is left in the window. `most` is what fills the whole width of a shelf: the highest
// bytes of one class at any time, so that boxes do not change their size while the plan plays.
void draw_shelves(const view::LoadedRun& run, const view::PlayerFrame& frame, Bytes most, const Theme& theme);

// What the edges of boxes mean, at the right end of the line before.
void draw_motion_legend(const Theme& theme);

// The highest bytes of any class after any instruction.
Bytes highest_of_a_class(const StepPlan& plan, const std::vector<view::BufferLife>& lives);

}  // namespace shardlab::gui
