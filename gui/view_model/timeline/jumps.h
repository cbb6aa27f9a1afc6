// Places of a step that one wants to see: a layer's, a micro-batch's, where compute waits for communication.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/view_model/loaded_run.h"
#include "gui/view_model/timeline/timeline_track.h"

namespace shardlab::view {

enum class JumpKind : std::uint8_t { exposed, layer, micro_batch };

struct JumpTarget {
  JumpKind kind = JumpKind::exposed;
  int number = 0;  // of the layer or micro-batch, from 0

  friend bool operator==(const JumpTarget&, const JumpTarget&) = default;
};

// How many layers and micro-batches there are to jump to; 0 where the plan tells none.
int layers_of(const LoadedRun& run);

// In the order of time: where the compute stream is at the layer (its forward and its backward of each
// micro-batch, the teacher's too), at the micro-batch, or stands still for communication. Of the last those
// that last less than a hundredth of the longest are left out. `track` is the run's.
std::vector<TimeInterval> jump_places(const LoadedRun& run, const TimelineTrack& track, JumpTarget target);

// The first place that begins after what is seen begins, the last one that begins before it; at the ends they
// start again from the other one. Absent where there is none. `seen`: the place that was shown last, or a
// moment.
std::optional<TimeInterval> next_place(const std::vector<TimeInterval>& places, Nanoseconds seen);
std::optional<TimeInterval> previous_place(const std::vector<TimeInterval>& places, Nanoseconds seen);

}  // namespace shardlab::view
