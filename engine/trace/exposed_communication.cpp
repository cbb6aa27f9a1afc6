#include "engine/trace/exposed_communication.h"

#include <algorithm>
#include <vector>

namespace shardlab {
namespace {

using Interval = TimeInterval;

void add(std::vector<Interval>& intervals, Nanoseconds begin, Nanoseconds end) {
  if (begin < end) intervals.push_back({begin, end});
}

// Sorted, overlapping ones joined.
std::vector<Interval> joined(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (!result.empty() && interval.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, interval.end);
    } else {
      result.push_back(interval);
    }
  }
  return result;
}

// What both cover; both are sorted and without overlaps.
void add_common(std::vector<Interval>& common, const std::vector<Interval>& a,
                const std::vector<Interval>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Nanoseconds begin = std::max(a[i].begin, b[j].begin);
    const Nanoseconds end = std::min(a[i].end, b[j].end);
    add(common, begin, end);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
}

// When the collectives that an instruction depends on have ended, by instruction.
struct CommunicationEnds {
  std::vector<Nanoseconds> of_waits;         // through its waits
  std::vector<Nanoseconds> of_dependencies;  // through its waits and its stream
};

CommunicationEnds communication_ends(const StepPlan& plan, const std::vector<const Span*>& span_of) {
  const std::size_t count = plan.instructions.size();
  CommunicationEnds ends{std::vector<Nanoseconds>(count), std::vector<Nanoseconds>(count)};
  std::vector<Nanoseconds> own(count);  // with the instruction itself
  std::vector<Nanoseconds> of_stream(plan.streams.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Instruction& instruction = plan.instructions[i];
    for (InstructionId wait : instruction.waits)
      ends.of_waits[i] = std::max(ends.of_waits[i], own[wait.index()]);
    Nanoseconds& stream = of_stream[instruction.stream.index()];
    ends.of_dependencies[i] = own[i] = std::max(ends.of_waits[i], stream);
    if (is_collective(instruction.kind) && span_of[i]) own[i] = std::max(own[i], span_of[i]->end);
    stream = own[i];
  }
  return ends;
}

bool on_compute(const Instruction& instruction) {
  return instruction.stream == StreamId{0};
}

bool computes(const Instruction& instruction) {
  return on_compute(instruction) && !is_host_only(instruction.kind) && !is_collective(instruction.kind);
}

// Whether the host stood still in the instruction: it issued the next one only when the waits were done.
bool blocks_host(const Instruction& instruction, const Span& span, const Span* next) {
  return !is_collective(instruction.kind) && (!next || next->issue >= span.ready);
}

}  // namespace

std::vector<TimeInterval> exposed_intervals(const StepPlan& plan, const RankTrace& rank) {
  if (rank.spans.empty()) return {};
  std::vector<const Span*> span_of(plan.instructions.size());
  for (const Span& span : rank.spans) {
    if (!span.skipped) span_of[span.instruction.index()] = &span;
  }
  const CommunicationEnds ends = communication_ends(plan, span_of);

  // Idle time of the compute stream before and after the host issued what ends it, and the waiting that
  // explains each.
  std::vector<Interval> unissued, issued, host_waits, stream_waits;
  Nanoseconds busy_until = rank.spans.front().issue;
  for (std::size_t i = 0; i < rank.spans.size(); ++i) {
    const Span& span = rank.spans[i];
    if (span.skipped) continue;
    const std::size_t id = span.instruction.index();
    const Instruction& instruction = plan.instructions[id];
    const Span* next = i + 1 < rank.spans.size() ? &rank.spans[i + 1] : nullptr;
    if (blocks_host(instruction, span, next)) {
      add(host_waits, span.issue, std::min(span.ready, ends.of_waits[id]));
    }
    if (computes(instruction)) {
      add(unissued, busy_until, std::min(span.issue, span.start));
      add(issued, std::max(busy_until, span.issue), span.start);
      add(stream_waits, std::max(busy_until, span.issue), std::min(span.start, ends.of_dependencies[id]));
      busy_until = std::max(busy_until, span.end);
    } else if (on_compute(instruction) && is_collective(instruction.kind)) {
      add(host_waits, span.start, span.end);
      add(stream_waits, span.start, span.end);
    }
  }
  std::vector<Interval> exposed;
  add_common(exposed, joined(std::move(unissued)), joined(std::move(host_waits)));
  add_common(exposed, joined(std::move(issued)), joined(std::move(stream_waits)));
  return joined(std::move(exposed));
}

Nanoseconds exposed_communication(const StepPlan& plan, const RankTrace& rank) {
  Nanoseconds sum;
  for (const TimeInterval& interval : exposed_intervals(plan, rank)) sum += interval.end - interval.begin;
  return sum;
}

}  // namespace shardlab
