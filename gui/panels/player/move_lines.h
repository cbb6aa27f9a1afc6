// What moves between ranks, as lines between their boxes, and headings that say what each sent. Private to
// this folder.
#pragma once

#include "gui/panels/player/rank_shelves.h"

namespace shardlab::gui {

// The ranks by name and colour, and what they sent so far; nothing where there is one rank.
void draw_headings(const view::BoardFrame& frame, const ShelfPlaces& places, const Theme& theme);

// The moves of the stage that the collective is in: from the part that a rank has to where it arrives.
void draw_moves(const StepPlan& plan, const view::BoardFrame& frame, const ShelfPlaces& places,
                const BoxesOfLanes& boxes, const Theme& theme);

}  // namespace shardlab::gui
