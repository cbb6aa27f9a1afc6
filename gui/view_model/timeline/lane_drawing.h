// What of a lane is drawn at a zoom: spans narrower than a pixel are merged, so that a lane never gives more
// rectangles than twice its pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/view_model/time_scale.h"
#include "gui/view_model/timeline/timeline_track.h"

namespace shardlab::view {

struct DrawnSpan {
  float x0 = 0;               // pixels from the left edge, cut to the visible part
  float x1 = 0;               // at least one pixel right of x0
  InstructionId instruction;  // of merged ones the longest
  std::uint32_t count = 1;    // spans in it
  std::uint16_t colour = 0;   // of the longest
  bool skipped = false;

  friend bool operator==(const DrawnSpan&, const DrawnSpan&) = default;
};

// From left to right. `drawn` is emptied first and keeps its memory, so that a frame allocates nothing.
void draw_lane(const Lane& lane, const TimeScale& scale, std::vector<DrawnSpan>& drawn);

}  // namespace shardlab::view
