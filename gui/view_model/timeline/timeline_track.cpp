#include "gui/view_model/timeline/timeline_track.h"

#include <algorithm>

namespace shardlab::view {
namespace {

constexpr Nanoseconds k_not_issued{-1};

LaneSpan lane_span(const Instruction& instruction, const Span& span) {
  const bool host = instruction.kind == InstructionKind::HostWait;
  LaneSpan result;
  result.begin = host ? span.issue : span.start;
  result.end = host ? span.ready : span.end;
  result.instruction = span.instruction;
  if (instruction.unit) result.colour = static_cast<std::uint16_t>(instruction.unit->index() + 1);
  result.skipped = span.skipped;
  return result;
}

// Spans of a stream come in issue order, which is that of their starts but for instructions of no length.
void finish(Lane& lane) {
  std::stable_sort(lane.spans.begin(), lane.spans.end(),
                   [](const LaneSpan& a, const LaneSpan& b) { return a.begin < b.begin; });
  Nanoseconds reach;
  lane.reaches.reserve(lane.spans.size());
  for (const LaneSpan& span : lane.spans) lane.reaches.push_back(reach = std::max(reach, span.end));
}

// Whether the host reached an instruction while the compute before it was still running.
bool host_runs_ahead(const StepPlan& plan, const RankTrace& rank) {
  Nanoseconds busy;
  for (const Span& span : rank.spans) {
    if (span.issue < busy) return true;
    const Instruction& instruction = plan.instruction(span.instruction);
    if (instruction.stream == StreamId{0} && !is_host_only(instruction.kind)) busy = span.end;
  }
  return false;
}

// While it waits it issues nothing: that is a lane of its own. What it computes itself holds it up.
Lane host_lane(const StepPlan& plan, const RankTrace& rank) {
  Lane lane{"host issues", false, {}, {}, true};
  if (!host_runs_ahead(plan, rank)) return lane;
  for (std::size_t i = 0; i + 1 < rank.spans.size(); ++i) {
    const Span& span = rank.spans[i];
    const Instruction& instruction = plan.instruction(span.instruction);
    LaneSpan issued = lane_span(instruction, span);
    issued.begin = instruction.kind == InstructionKind::HostWait ? span.ready : span.issue;
    issued.end = rank.spans[i + 1].issue;
    if (issued.begin < issued.end) lane.spans.push_back(issued);
  }
  return lane;
}

double distance(const LaneSpan& span, double time) {
  const auto begin = static_cast<double>(span.begin.value), end = static_cast<double>(span.end.value);
  return time < begin ? begin - time : time >= end ? time - end : 0;
}

}  // namespace

TimelineTrack make_track(std::string title, RunKind kind, const StepPlan& plan, const PlanWords& words,
                         const RankTrace& rank) {
  TimelineTrack track{
      std::move(title), kind, {}, step_parts(plan, words, rank), exposed_intervals(plan, rank), {}, {}, {}};
  for (const Stream& stream : plan.streams) track.lanes.push_back({stream.name, false, {}, {}});
  track.lanes.push_back(host_lane(plan, rank));
  track.lanes.push_back({"host waits", true, {}, {}});
  track.issue_of.assign(plan.instructions.size(), k_not_issued);
  for (const Span& span : rank.spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    track.issue_of[span.instruction.index()] = span.issue;
    track.end = std::max(track.end, std::max(span.end, span.ready));
    const bool host = instruction.kind == InstructionKind::HostWait;
    if (is_host_only(instruction.kind) && !host) continue;
    Lane& lane = host ? track.lanes.back() : track.lanes[instruction.stream.index()];
    lane.spans.push_back(lane_span(instruction, span));
  }
  std::erase_if(track.lanes, [](const Lane& lane) { return lane.spans.empty(); });
  track.place_of.resize(plan.instructions.size());
  for (std::uint32_t i = 0; i < track.lanes.size(); ++i) {
    Lane& lane = track.lanes[i];
    finish(lane);
    if (lane.issues) continue;
    for (std::uint32_t j = 0; j < lane.spans.size(); ++j)
      track.place_of[lane.spans[j].instruction.index()] = SpanPlace{i, j};
  }
  return track;
}

std::optional<std::uint32_t> hit_span(const Lane& lane, double time, double slack) {
  const auto first = std::partition_point(lane.reaches.begin(), lane.reaches.end(), [&](Nanoseconds reach) {
    return static_cast<double>(reach.value) < time - slack;
  });
  std::optional<std::uint32_t> best;
  double best_distance = slack;
  for (auto i = static_cast<std::size_t>(first - lane.reaches.begin()); i < lane.spans.size(); ++i) {
    const LaneSpan& span = lane.spans[i];
    if (static_cast<double>(span.begin.value) > time + slack) break;
    const double away = distance(span, time);
    if (away > best_distance) continue;
    const bool closer = !best || away < best_distance;
    const bool shorter = best && away == best_distance &&
                         span.end - span.begin < lane.spans[*best].end - lane.spans[*best].begin;
    if (!closer && !shorter) continue;
    best = static_cast<std::uint32_t>(i);
    best_distance = away;
  }
  return best;
}

namespace {

void add_arrow(std::vector<WaitArrow>& arrows, const TimelineTrack& track, InstructionId from,
               InstructionId to) {
  const auto &a = track.place_of[from.index()], &b = track.place_of[to.index()];
  if (!a || !b) return;
  const Lane& target = track.lanes[b->lane];
  const LaneSpan& waiting = target.spans[b->span];
  // A HostWait's span is the waiting itself: the arrow meets its end.
  arrows.push_back({from, to, track.lanes[a->lane].spans[a->span].end,
                    target.host ? waiting.end : waiting.begin, a->lane, b->lane, false});
}

void mark_decisive(std::vector<WaitArrow>& arrows) {
  const auto last =
      std::max_element(arrows.begin(), arrows.end(),
                       [](const WaitArrow& a, const WaitArrow& b) { return a.from_time < b.from_time; });
  if (last != arrows.end()) last->decisive = true;
}

}  // namespace

std::vector<WaitArrow> wait_arrows(const StepPlan& plan, const TimelineTrack& track, InstructionId id) {
  std::vector<WaitArrow> arrows;
  if (id.index() >= plan.instructions.size() || id.index() >= track.place_of.size()) return arrows;
  for (const InstructionId wait : plan.instruction(id).waits) add_arrow(arrows, track, wait, id);
  mark_decisive(arrows);
  for (std::size_t i = id.index() + 1; i < plan.instructions.size(); ++i) {
    const std::vector<InstructionId>& waits = plan.instructions[i].waits;
    if (std::find(waits.begin(), waits.end(), id) != waits.end())
      add_arrow(arrows, track, id, make_id<InstructionId>(i));
  }
  return arrows;
}

}  // namespace shardlab::view
