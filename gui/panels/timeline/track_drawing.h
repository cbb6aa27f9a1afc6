// A timeline track inside an ImPlot plot whose y axis counts rows from the top. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "gui/view_model/loaded_run.h"
#include "gui/view_model/timeline/lane_drawing.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

enum class SpanColours { unit, kind };

struct TrackPlace {
  const view::TimelineTrack& track;
  const view::LoadedRun& run;
  int title_row = 0;  // the track's lanes follow below
  float opacity = 1;  // faint while it is stale
  SpanColours colours = SpanColours::unit;
  std::optional<InstructionId> chosen{};
};

// Spans, exposed communication and the chosen instruction with its waits; between BeginPlot() and EndPlot().
void draw_track(const TrackPlace& place, const view::TimeScale& scale, const Theme& theme,
                std::vector<view::DrawnSpan>& scratch);

// Below a track's title: the parts of the step where there are several, then the lanes.
inline int rows_above_lanes(const view::TimelineTrack& track) {
  return track.parts.size() > 1 ? 2 : 1;
}
// Rows that a track takes.
inline int rows_of(const view::TimelineTrack& track) {
  return static_cast<int>(track.lanes.size()) + rows_above_lanes(track);
}

}  // namespace shardlab::gui
