// What a frame of timeline and memory costs before anything is drawn: 100,000 spans in two tracks, 50,000
// memory samples, at zooms from the whole step to a thousandth of it. Prints figures; fails when nothing came
// out.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "gui/view_model/memory/memory_track.h"
#include "gui/view_model/timeline/lane_drawing.h"
#include "tests/long_step.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

constexpr std::uint32_t k_spans_a_track = 50'000;
constexpr double k_width = 1600;
constexpr double k_target_ms = 16;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Frame {
  std::vector<DrawnSpan> drawn;
  StackedMemory stacked;
  std::size_t rectangles = 0;
};

void prepare(const std::vector<TimelineTrack>& tracks, const MemoryTrack& memory, const TimeScale& scale,
             Frame& frame) {
  frame.rectangles = 0;
  for (const TimelineTrack& track : tracks) {
    for (const Lane& lane : track.lanes) {
      draw_lane(lane, scale, frame.drawn);
      frame.rectangles += frame.drawn.size();
    }
  }
  stack_memory(memory, scale, 1.5, frame.stacked);
}

}  // namespace

int main() {
  const StepPlan plan = long_step_plan(k_spans_a_track);
  const RankTrace rank = long_step_rank(k_spans_a_track);
  auto start = Clock::now();
  const PlanWords words(plan);
  const std::vector<TimelineTrack> tracks = {make_track("predicted", RunKind::predicted, plan, words, rank),
                                             make_track("measured", RunKind::measured, plan, words, rank)};
  const MemoryTrack memory =
      make_memory_track("measured", RunKind::measured, plan, rank, {}, MemoryClock::device);
  fmt::print("tracks of {} spans and {} memory samples made in {:.1f} ms, once a run\n", 2 * k_spans_a_track,
             memory.samples.size(), milliseconds_since(start));

  Frame frame;
  bool good = true;
  for (const double part : {1.0, 0.1, 0.01, 0.001}) {
    std::vector<double> times;
    for (int i = 0; i < 50; ++i) {
      const double from = static_cast<double>(memory.end.value) * (1 - part) * i / 50;
      start = Clock::now();
      prepare(tracks, memory, {from, from + static_cast<double>(memory.end.value) * part, k_width}, frame);
      times.push_back(milliseconds_since(start));
    }
    std::sort(times.begin(), times.end());
    fmt::print(
        "{:>6.1f} % of the step visible: {:.3f} ms median, {:.3f} ms worst, {} rectangles, {} columns "
        "(target {} ms)\n",
        part * 100, times[times.size() / 2], times.back(), frame.rectangles, frame.stacked.times.size(),
        k_target_ms);
    good = good && frame.rectangles > 0 && !frame.stacked.times.empty();
  }
  return good ? 0 : 1;
}
