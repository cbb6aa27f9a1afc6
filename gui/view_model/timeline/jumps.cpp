#include "gui/view_model/timeline/jumps.h"

#include <algorithm>

namespace shardlab::view {
namespace {

std::optional<int> layer_of(const LoadedRun& run, const Instruction& self) {
  if (self.segment && self.segment->index() < run.plan().segments.size())
    return run.words().segment(*self.segment).layer;
  if (self.unit && self.unit->index() < run.plan().units.size()) return run.words().unit(*self.unit).layer;
  return std::nullopt;
}

const Lane* compute_lane(const StepPlan& plan, const TimelineTrack& track) {
  if (track.lanes.empty() || track.lanes.front().spans.empty()) return nullptr;
  const InstructionId first = track.lanes.front().spans.front().instruction;
  return plan.instruction(first).stream == StreamId{0} ? &track.lanes.front() : nullptr;
}

// What computes on another layer ends a place; what is of none (an optimizer's step over all) does, too.
std::vector<TimeInterval> places_of_layer(const LoadedRun& run, const TimelineTrack& track, int layer) {
  std::vector<TimeInterval> places;
  const Lane* const lane = compute_lane(run.plan(), track);
  if (lane == nullptr) return places;
  bool inside = false;
  for (const LaneSpan& span : lane->spans) {
    const bool here = layer_of(run, run.plan().instruction(span.instruction)) == layer;
    if (here && !inside) places.push_back({span.begin, span.end});
    if (here) places.back().end = std::max(places.back().end, span.end);
    inside = here;
  }
  return places;
}

std::vector<TimeInterval> places_of_micro_batch(const TimelineTrack& track, int number) {
  std::vector<TimeInterval> places;
  for (const StepPart& part : track.parts)
    if (part.micro_batch == number) places.push_back({part.begin, part.end});
  return places;
}

std::vector<TimeInterval> exposed_places(const TimelineTrack& track) {
  constexpr std::int64_t k_least_share = 100;
  Nanoseconds longest;
  for (const TimeInterval& each : track.exposed) longest = std::max(longest, each.end - each.begin);
  std::vector<TimeInterval> places = track.exposed;
  std::erase_if(places, [longest](const TimeInterval& each) {
    return (each.end - each.begin).value * k_least_share < longest.value;
  });
  return places;
}

}  // namespace

int layers_of(const LoadedRun& run) {
  int count = 0;
  for (const Instruction& instruction : run.plan().instructions)
    if (const auto layer = layer_of(run, instruction)) count = std::max(count, *layer + 1);
  return count;
}

std::vector<TimeInterval> jump_places(const LoadedRun& run, const TimelineTrack& track, JumpTarget target) {
  switch (target.kind) {
    case JumpKind::layer: return places_of_layer(run, track, target.number);
    case JumpKind::micro_batch: return places_of_micro_batch(track, target.number);
    case JumpKind::exposed: break;
  }
  return exposed_places(track);
}

std::optional<TimeInterval> next_place(const std::vector<TimeInterval>& places, Nanoseconds seen) {
  if (places.empty()) return std::nullopt;
  const auto next = std::find_if(places.begin(), places.end(),
                                 [seen](const TimeInterval& each) { return each.begin > seen; });
  return next == places.end() ? places.front() : *next;
}

std::optional<TimeInterval> previous_place(const std::vector<TimeInterval>& places, Nanoseconds seen) {
  if (places.empty()) return std::nullopt;
  const auto next = std::find_if(places.begin(), places.end(),
                                 [seen](const TimeInterval& each) { return each.begin >= seen; });
  return next == places.begin() ? places.back() : *(next - 1);
}

}  // namespace shardlab::view
