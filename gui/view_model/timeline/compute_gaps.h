// Why the compute stream stands still: for communication, for a rank that comes late, for another stream, for
// the host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/view_model/loaded_run.h"
#include "gui/view_model/timeline/timeline_track.h"

namespace shardlab::view {

enum class GapCause : std::uint8_t {
  communication,  // what comes next waits for a collective
  other_rank,     // that collective waits for a rank which started it later
  stream,         // it waits for other work on another stream
  host_waits,     // the host has not issued it: it stands still itself, and waits for something
  host,           // the host has not issued it
  start,          // nothing is left to wait for: the device begins it
};

struct GapPart {
  TimeInterval interval;
  GapCause cause = GapCause::start;
  std::optional<InstructionId> awaited;  // what is waited for
  std::optional<int> rank;               // of other_rank

  friend bool operator==(const GapPart&, const GapPart&) = default;
};

struct ComputeGap {
  TimeInterval interval;
  std::optional<InstructionId> next;  // what computes after it; none at the end of the step
  std::vector<GapPart> parts;         // one after the other, they fill it
};

// The gap of a rank's compute stream in which the time lies; none where it computes. `track` is made of
// `rank`, one of the ranks of `step`; both fit the run's plan. Logarithmic in the spans but for the host's
// waits within the gap.
std::optional<ComputeGap> gap_at(const LoadedRun& run, const TimelineTrack& track, const StepTrace& step,
                                 const RankTrace& rank, Nanoseconds time);

// "compute stands still for 1.2 ms", then a line a part.
std::string to_words(const ComputeGap& gap, const LoadedRun& run);

}  // namespace shardlab::view
