#include "engine/pictures/timeline_picture.h"

#include <algorithm>

namespace shardlab {
namespace {

// The host is in an instruction until it issues the next one.
PictureLane host_lane(const StepPlan& plan, const RankTrace& rank) {
  PictureLane lane{.name = "host", .spans = {}, .is_host = true};
  for (std::size_t i = 0; i + 1 < rank.spans.size(); ++i) {
    const Span& span = rank.spans[i];
    const InstructionKind kind = plan.instruction(span.instruction).kind;
    if (rank.spans[i + 1].issue > span.issue)
      lane.spans.push_back({span.instruction, kind, span.issue, rank.spans[i + 1].issue});
  }
  return lane;
}

void clip(PictureLane& lane, Nanoseconds begin, Nanoseconds end) {
  for (LaneSpan& span : lane.spans) {
    span.begin = std::max(span.begin, begin);
    span.end = std::min(span.end, end);
  }
  std::erase_if(lane.spans, [](const LaneSpan& span) { return span.end <= span.begin; });
}

const Span* span_of(const RankTrace& rank, const std::optional<InstructionId>& id) {
  if (!id) return nullptr;
  const auto found = std::find_if(rank.spans.begin(), rank.spans.end(),
                                  [&](const Span& span) { return span.instruction == *id; });
  return found == rank.spans.end() ? nullptr : &*found;
}

}  // namespace

TimelinePicture timeline_picture(const StepPlan& plan, const RankTrace& rank,
                                 const TimelinePictureOptions& options) {
  TimelinePicture picture;
  picture.chosen = options.chosen;
  picture.end = rank.duration;
  if (const Span* from = span_of(rank, options.from)) picture.begin = from->start;
  if (const Span* to = span_of(rank, options.to))
    picture.end = std::max(to->end, picture.begin + Nanoseconds{1});
  picture.lanes.push_back(host_lane(plan, rank));
  for (const Stream& stream : plan.streams) picture.lanes.push_back({stream.name, {}});
  for (const Span& span : rank.spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    if (!is_host_only(instruction.kind) && span.end > span.start)
      picture.lanes[instruction.stream.index() + 1].spans.push_back(
          {span.instruction, instruction.kind, span.start, span.end});
  }
  for (PictureLane& lane : picture.lanes) clip(lane, picture.begin, picture.end);
  std::erase_if(picture.lanes, [](const PictureLane& lane) { return lane.spans.empty(); });
  for (TimeInterval interval : exposed_intervals(plan, rank)) {
    interval.begin = std::max(interval.begin, picture.begin);
    interval.end = std::min(interval.end, picture.end);
    if (interval.begin < interval.end) picture.exposed.push_back(interval);
  }
  return picture;
}

KindLook look_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Forward: return {"forward", 'F', "#4e79a7"};
    case InstructionKind::Recompute: return {"recomputed forward", 'R', "#86bcdc"};
    case InstructionKind::Backward: return {"backward", 'B', "#f1b04c"};
    case InstructionKind::AllGather: return {"all-gather", 'G', "#59a14f"};
    case InstructionKind::ReduceScatter: return {"reduce-scatter", 'S', "#e15759"};
    case InstructionKind::AllReduce: return {"all-reduce", 'A', "#d4709c"};
    case InstructionKind::Reduce: return {"reduce", 'A', "#d4709c"};
    case InstructionKind::Broadcast: return {"broadcast", 'G', "#59a14f"};
    case InstructionKind::AllToAll: return {"all-to-all", 'X', "#8cd17d"};
    case InstructionKind::OptimizerStep: return {"optimizer step", 'O', "#b07aa1"};
    case InstructionKind::HostWait: return {"host waits", 'w', "#c9c9cf"};
    default: return {"copies and the rest", 'c', "#9d9da3"};
  }
}

}  // namespace shardlab
