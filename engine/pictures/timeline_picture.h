// A step on the clock of one rank as a picture: streams as lanes, what they do and when compute waits.
//
// The first lane is the host: what it issues. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/exposed_communication.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct LaneSpan {
  InstructionId instruction;
  InstructionKind kind = InstructionKind::Marker;
  Nanoseconds begin, end;
};

struct PictureLane {
  std::string name;
  std::vector<LaneSpan> spans;  // in order, none empty
  bool is_host = false;
};

struct TimelinePicture {
  Nanoseconds begin, end;             // that are shown
  std::vector<PictureLane> lanes;     // host, then the streams that do anything meanwhile
  std::vector<TimeInterval> exposed;  // communication that compute waits for
  std::optional<InstructionId> chosen;
};

struct TimelinePictureOptions {
  std::optional<InstructionId> from, to;  // both are shown whole; absent: the step's beginning and end
  std::optional<InstructionId> chosen;
};

// The trace must fit the plan (check_trace).
TimelinePicture timeline_picture(const StepPlan& plan, const RankTrace& rank,
                                 const TimelinePictureOptions& options);

// What a kind of instruction is called in the picture, in a letter and a colour: "all-gather", 'G'.
struct KindLook {
  const char* name;
  char letter;
  const char* colour;
};
KindLook look_of(InstructionKind kind);

// Lines of text, a column a part of the time, with a legend; `columns` wide.
std::string timeline_text(const TimelinePicture& picture, int columns = 64);

// An <svg> element, as wide as its place. Neighbours of one kind that are narrower than a pixel are drawn as
// one.
std::string timeline_svg(const StepPlan& plan, const TimelinePicture& picture, const std::string& title);

}  // namespace shardlab
