// Memory of one rank over a step, stacked by class, on the time axis of the timeline.
//
// From an instruction to the next one the level shown is the highest that the trace recorded while it was
// issued and ran on the host; what lies in between is not recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"
#include "gui/view_model/time_scale.h"

namespace shardlab::view {

// Where on the time axis a sample stands. Memory is taken and given back when the host gets to an
// instruction, and on a GPU the host is far ahead: its whole step may be over before the device has done a
// tenth.
enum class MemoryClock : std::uint8_t {
  host,    // at the instruction's issue
  device,  // when the compute stream gets to it, or to the compute before it: beside the lanes of the
           // timeline
};

struct MemoryTrack {
  std::string title;
  RunKind kind = RunKind::predicted;
  std::vector<MemorySample> samples;  // in issue order; empty when memory was not measured
  std::vector<Nanoseconds> times;     // by sample, never falling; see MemoryClock
  std::vector<std::int64_t> peaks;    // by sample, for searching
  Nanoseconds end;                    // of the step
  std::vector<BufferClass> classes;   // that hold anything, in the order of stacking: what lives long at the
                                      // bottom; none where the trace knows no classes
  std::optional<std::size_t> peak;    // the first sample with the highest peak
  std::optional<Bytes> capacity;      // what a rank may use, when known
  // What is in use on the device at most, with the allocator's gaps and libraries, which no sample has.
  std::optional<Bytes> in_use;
  std::vector<MemorySpace> others;  // that hold anything, besides the device
  bool begins_unknown = false;      // all of it is above what was there before, which nobody knows
};

// Whether the memory of a run is known only from where its record began.
bool begins_unknown(const Provenance& provenance);

// The most that a space other than the device held at any sample.
Bytes highest_in(const MemoryTrack& track, MemorySpace space);

// The trace must fit the plan (check_trace).
MemoryTrack make_memory_track(std::string title, RunKind kind, const StepPlan& plan, const RankTrace& rank,
                              std::optional<Bytes> capacity, MemoryClock clock);

// Bytes by column of the plot, ready to be drawn: `tops[c]` is the upper edge of classes[c] above those
// before. A track without classes has one strip, of all bytes.
struct StackedMemory {
  std::vector<double> times;                // ns, the left edge of each column
  std::vector<std::vector<double>> tops;    // by strip, then column
  std::vector<std::uint32_t> samples;       // by column: the sample that is shown
  std::vector<std::vector<double>> others;  // by other space of the track, then column: the highest there
};

// One column a `pixels_per_column` pixels. A column shows the sample with the highest peak of those that it
// touches, so no peak is lost however far one zooms out. `stacked` keeps its memory between frames.
void stack_memory(const MemoryTrack& track, const TimeScale& scale, double pixels_per_column,
                  StackedMemory& stacked);

// The sample whose instruction was the last one issued at that time; none before the first and when empty.
std::optional<std::size_t> sample_at(const MemoryTrack& track, double time);

}  // namespace shardlab::view
