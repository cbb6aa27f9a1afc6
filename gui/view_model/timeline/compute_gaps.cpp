#include "gui/view_model/timeline/compute_gaps.h"

#include <fmt/format.h>

#include <algorithm>

namespace shardlab::view {
namespace {

// Spans are in the order of their instructions.
const Span* span_of(const RankTrace& rank, InstructionId id) {
  const auto found = std::partition_point(rank.spans.begin(), rank.spans.end(),
                                          [id](const Span& span) { return span.instruction < id; });
  return found == rank.spans.end() || found->instruction != id ? nullptr : &*found;
}

// The span that ended last among those that an instruction waits for.
const Span* awaited_last(const RankTrace& rank, const Instruction& self) {
  const Span* last = nullptr;
  for (const InstructionId wait : self.waits) {
    const Span* const span = span_of(rank, wait);
    if (span != nullptr && (last == nullptr || last->end < span->end)) last = span;
  }
  return last;
}

// The rank that started an instruction last, and when by the clock of `rank`; none where no other was later.
struct Latecomer {
  int rank = 0;
  Nanoseconds start;
};
std::optional<Latecomer> latecomer(const StepTrace& step, const RankTrace& rank, InstructionId id) {
  const Span* const own = span_of(rank, id);
  std::optional<Latecomer> last;
  for (const RankTrace& other : step.ranks) {
    if (other.rank == rank.rank) continue;
    const Span* const span = span_of(other, id);
    if (span == nullptr) continue;
    const Nanoseconds start = span->start + other.start_offset - rank.start_offset;
    if (own != nullptr && start <= own->start) continue;
    if (!last || last->start < start) last = Latecomer{other.rank, start};
  }
  return last;
}

// Fills a gap from its beginning.
class Filler {
 public:
  explicit Filler(TimeInterval gap) : gap_(gap), at_(gap.begin) {}
  void until(Nanoseconds time, GapCause cause, std::optional<InstructionId> awaited = {},
             std::optional<int> rank = {}) {
    time = std::min(time, gap_.end);
    if (time <= at_) return;
    parts_.push_back({{at_, time}, cause, awaited, rank});
    at_ = time;
  }
  std::vector<GapPart> take() { return std::move(parts_); }

 private:
  TimeInterval gap_;
  Nanoseconds at_;
  std::vector<GapPart> parts_;
};

// Until a wait is done: first for the rank that comes late to a collective, then for the collective itself.
void wait_for(Filler& filler, const LoadedRun& run, const StepTrace& step, const RankTrace& rank,
              const Span* awaited, Nanoseconds until, bool by_host) {
  if (awaited == nullptr) return filler.until(until, by_host ? GapCause::host_waits : GapCause::stream);
  const InstructionId id = awaited->instruction;
  const bool communicates = is_collective(run.plan().instruction(id).kind);
  if (communicates)
    if (const auto late = latecomer(step, rank, id))
      filler.until(std::min(late->start, until), GapCause::other_rank, id, late->rank);
  filler.until(until,
               by_host        ? GapCause::host_waits
               : communicates ? GapCause::communication
                              : GapCause::stream,
               id);
}

// Before the host issues `next`: where it stood still in a wait of its own, and where it did other things.
void fill_unissued(Filler& filler, const LoadedRun& run, const StepTrace& step, const RankTrace& rank,
                   const Span& next, Nanoseconds begin) {
  auto span = std::partition_point(rank.spans.begin(), rank.spans.end(),
                                   [&](const Span& each) { return each.instruction < next.instruction; });
  while (span != rank.spans.begin() && (span - 1)->issue >= begin) --span;
  if (span != rank.spans.begin()) --span;  // under way when the gap began
  for (; span != rank.spans.end() && span->instruction < next.instruction; ++span) {
    const Instruction& self = run.plan().instruction(span->instruction);
    if (self.kind != InstructionKind::HostWait || span->ready <= begin) continue;
    filler.until(span->issue, GapCause::host);
    wait_for(filler, run, step, rank, awaited_last(rank, self), std::min(span->ready, next.issue), true);
  }
  filler.until(next.issue, GapCause::host);
}

}  // namespace

std::optional<ComputeGap> gap_at(const LoadedRun& run, const TimelineTrack& track, const StepTrace& step,
                                 const RankTrace& rank, Nanoseconds time) {
  if (track.lanes.empty() || track.lanes.front().spans.empty() || time < Nanoseconds{0} || time >= track.end)
    return std::nullopt;
  const Lane& lane = track.lanes.front();
  if (run.plan().instruction(lane.spans.front().instruction).stream != StreamId{0}) return std::nullopt;
  const auto next = std::partition_point(lane.spans.begin(), lane.spans.end(),
                                         [time](const LaneSpan& span) { return span.begin <= time; });
  const auto index = static_cast<std::size_t>(next - lane.spans.begin());
  const Nanoseconds begin = index == 0 ? Nanoseconds{0} : lane.reaches[index - 1];
  if (begin > time) return std::nullopt;
  ComputeGap gap{{begin, next == lane.spans.end() ? track.end : next->begin}, {}, {}};
  if (next == lane.spans.end()) return gap;
  gap.next = next->instruction;
  const Span* const span = span_of(rank, next->instruction);
  if (span == nullptr) return gap;
  Filler filler(gap.interval);
  fill_unissued(filler, run, step, rank, *span, begin);
  const Instruction& self = run.plan().instruction(span->instruction);
  const Span* const awaited = awaited_last(rank, self);
  wait_for(filler, run, step, rank, awaited, std::max(span->ready, awaited ? awaited->end : Nanoseconds{}),
           false);
  filler.until(gap.interval.end, GapCause::start);
  gap.parts = filler.take();
  return gap;
}

namespace {

std::string cause_words(const GapPart& part, const LoadedRun& run) {
  const std::string awaited = part.awaited ? run.words().instruction(*part.awaited) : "something";
  switch (part.cause) {
    case GapCause::communication:
    case GapCause::stream: return "waits for " + awaited;
    case GapCause::other_rank:
      return fmt::format("waits for rank {}, which comes late to {}", *part.rank, awaited);
    case GapCause::host_waits: return "the host stands still and waits for " + awaited;
    case GapCause::host: return "the host has not issued it yet";
    case GapCause::start: break;
  }
  return "until it starts, though nothing is waited for";
}

}  // namespace

std::string to_words(const ComputeGap& gap, const LoadedRun& run) {
  std::string text = "compute stands still for " + to_string(gap.interval.end - gap.interval.begin);
  if (!gap.next) return text + ": nothing is left for it to do in this step";
  text += ", before " + run.words().instruction(*gap.next);
  for (const GapPart& part : gap.parts)
    text +=
        fmt::format("\n{}  {}", to_string(part.interval.end - part.interval.begin), cause_words(part, run));
  return text;
}

}  // namespace shardlab::view
