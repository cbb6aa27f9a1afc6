// One rank of one run on the time axis: streams as lanes, spans in them, what is selected and what it waited
// for.
//
// Built once a run; everything asked each frame is logarithmic in the spans or linear in the visible ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/exposed_communication.h"
#include "engine/trace/step_trace.h"
#include "gui/view_model/timeline/step_parts.h"

namespace shardlab::view {

struct LaneSpan {
  Nanoseconds begin;
  Nanoseconds end;
  InstructionId instruction;
  std::uint16_t colour = 0;  // unit + 1; 0 without a unit
  bool skipped = false;      // its guard was false
};

// A stream; or, behind those of a track, the host: what it issues while the device works, and standing still
// in HostWaits.
struct Lane {
  std::string name;
  bool host = false;                 // standing still
  std::vector<LaneSpan> spans;       // by begin
  std::vector<Nanoseconds> reaches;  // by span: the latest end up to it, for searching from the left
  bool issues = false;               // the host at work
};

struct SpanPlace {
  std::uint32_t lane = 0;
  std::uint32_t span = 0;
};

struct TimelineTrack {
  std::string title;  // "r12 measured, rank 0, step 7"
  RunKind kind = RunKind::predicted;
  std::vector<Lane> lanes;
  std::vector<StepPart> parts;                     // of the step, on the compute stream
  std::vector<TimeInterval> exposed;               // communication that compute waited for
  std::vector<std::optional<SpanPlace>> place_of;  // by instruction; none for what takes no device time
  std::vector<Nanoseconds> issue_of;               // by instruction; -1 where it did not run
  Nanoseconds end;                                 // of the last span
};

// Instructions that take no device time (Alloc, Free, Marker) are in no lane of a stream. The host has a lane
// where it goes on while the device computes, as for a GPU: from one instruction's issue to the next one's it
// is at work on the first, or waits for another thread. The trace must fit the plan (check_trace), whose
// words these are.
TimelineTrack make_track(std::string title, RunKind kind, const StepPlan& plan, const PlanWords& words,
                         const RankTrace& rank);

// The span under a time in a lane, or the nearest one not farther than `slack`; the shortest where several
// cover it.
std::optional<std::uint32_t> hit_span(const Lane& lane, double time, double slack);

// An arrow from the end of an awaited instruction to the start of the one that waited.
struct WaitArrow {
  InstructionId from;
  InstructionId to;
  Nanoseconds from_time;
  Nanoseconds to_time;
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  bool decisive = false;  // of all that it waited for, this ended last
};

// What `id` waited for, then who waited for `id`; only between instructions that are on the track.
std::vector<WaitArrow> wait_arrows(const StepPlan& plan, const TimelineTrack& track, InstructionId id);

}  // namespace shardlab::view
