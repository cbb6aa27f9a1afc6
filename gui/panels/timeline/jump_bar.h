// Buttons that go to the places of a layer, a micro-batch, or of exposed communication. Private to this
// folder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/shell/panel.h"
#include "gui/view_model/timeline/jumps.h"

namespace shardlab::gui {

class JumpBar {
 public:
  // Draws them in the present line; `track` is the run's, shown in this frame, and `revision` grows whenever
  // it is another one. Returns the place to show.
  std::optional<TimeInterval> draw(const view::LoadedRun& run, const view::TimelineTrack& track,
                                   std::uint64_t revision, const Theme& theme);

 private:
  void refresh(const view::LoadedRun& run, const view::TimelineTrack& track, std::uint64_t revision);
  void choose_target(const Theme& theme);

  std::uint64_t revision_ = ~0ULL;
  int kind_ = 0, number_ = 0;  // JumpKind; from 0
  view::JumpTarget made_for_;
  int layers_ = 0, micro_batches_ = 1;
  std::vector<TimeInterval> places_;
  Nanoseconds seen_{-1};
};

}  // namespace shardlab::gui
