// A timeline track inside an ImPlot plot whose y axis counts rows from the top. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "gui/view_model/lane_drawing.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

enum class SpanColours { unit, kind };

struct TrackPlace {
  const view::TimelineTrack& track;
  const StepPlan& plan;
  int title_row = 0;  // the track's lanes follow below
  float opacity = 1;  // faint while it is stale
  SpanColours colours = SpanColours::unit;
  std::optional<InstructionId> chosen{};
};

// Spans, exposed communication and the chosen instruction with its waits; between BeginPlot() and EndPlot().
void draw_track(const TrackPlace& place, const view::TimeScale& scale, const Theme& theme,
                std::vector<view::DrawnSpan>& scratch);

// Rows that a track takes.
inline int rows_of(const view::TimelineTrack& track) {
  return static_cast<int>(track.lanes.size()) + 1;
}

}  // namespace shardlab::gui
