#include "engine/doctor/job/exposed_by.h"

#include <algorithm>
#include <map>

#include "engine/trace/exposed_communication.h"

namespace shardlab {
namespace {

Nanoseconds common(const TimeInterval& interval, const Span& span) {
  return std::max(Nanoseconds{}, std::min(interval.end, span.end) - std::max(interval.begin, span.start));
}

// The collective that runs in the interval and ends last.
const Span* explains(const std::vector<const Span*>& collectives, const TimeInterval& interval) {
  const Span* last = nullptr;
  for (const Span* span : collectives) {
    if (common(interval, *span).value > 0 && (last == nullptr || span->end > last->end)) last = span;
  }
  return last;
}

}  // namespace

std::vector<ExposedBy> exposed_by(const StepPlan& plan, const RankTrace& rank) {
  std::vector<const Span*> collectives;
  std::map<std::pair<InstructionKind, std::optional<GroupId>>, ExposedBy> kinds;
  const auto kind_of = [&](const Span& span) -> ExposedBy& {
    const Instruction& instruction = plan.instruction(span.instruction);
    ExposedBy& kind = kinds[{instruction.kind, instruction.group}];
    kind.kind = instruction.kind;
    kind.group = instruction.group;
    return kind;
  };
  for (const Span& span : rank.spans) {
    if (span.skipped || !is_collective(plan.instruction(span.instruction).kind)) continue;
    collectives.push_back(&span);
    ExposedBy& kind = kind_of(span);
    kind.takes += span.end - span.start;
    ++kind.count;
  }
  for (const TimeInterval& interval : exposed_intervals(plan, rank)) {
    const Span* span = explains(collectives, interval);
    if (span == nullptr) continue;
    ExposedBy& kind = kind_of(*span);
    const Nanoseconds time = interval.end - interval.begin;
    kind.exposed += time;
    if (time > kind.worst_exposed) {
      kind.worst = span->instruction;
      kind.worst_exposed = time;
    }
  }
  std::vector<ExposedBy> sorted;
  for (const auto& [key, kind] : kinds) sorted.push_back(kind);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const ExposedBy& a, const ExposedBy& b) { return a.exposed > b.exposed; });
  return sorted;
}

}  // namespace shardlab
