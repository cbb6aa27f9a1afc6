// A buffer of a rank as a box: how full it is, whose parts are there, what is added up. Private to this
// folder.
#pragma once

#include "gui/view_model/loaded_run.h"
#include "gui/view_model/player/rank_board.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

struct Box {
  ImVec2 min, max;

  ImVec2 centre() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
  // The part at this place of so many.
  Box part(int place, int parts) const;
};

struct DrawnBuffer {
  const view::LoadedRun& run;
  const view::ShownBuffer& shown;
  const view::BufferContent& content;
  std::string rank;  // "rank 3", for the tooltip; empty where there is one rank
};

void draw_box(const DrawnBuffer& buffer, const Box& box, const Theme& theme);

// What edges and stripes of boxes mean, in a line; stripes where ranks are several.
float box_legend_width(bool several_ranks, const Theme& theme);
void draw_box_legend(bool several_ranks, const Theme& theme);

}  // namespace shardlab::gui
