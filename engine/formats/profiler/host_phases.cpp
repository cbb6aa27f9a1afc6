#include "engine/formats/profiler/host_phases.h"

#include <algorithm>

#include "engine/formats/profiler/work_names.h"

namespace shardlab {

HostPhases::HostPhases(const ProfilerTrace& trace) {
  for (const ProfilerEvent& event : trace.events) {
    if (event.category != ProfilerCategory::operation && event.category != ProfilerCategory::annotation)
      continue;
    if (const auto kind = phase_of_name(trace.names[event.name]))
      by_thread_[event.thread].push_back({event.start, event.end, {}, *kind});
  }
  for (auto& [thread, intervals] : by_thread_) {
    std::stable_sort(intervals.begin(), intervals.end(),
                     [](const Interval& a, const Interval& b) { return a.start < b.start; });
    Nanoseconds reach = intervals.front().end;
    for (Interval& each : intervals) each.reach = reach = std::max(reach, each.end);
  }
}

InstructionKind HostPhases::at(std::uint32_t thread, Nanoseconds time) const {
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return InstructionKind::Forward;
  const std::vector<Interval>& intervals = found->second;
  auto each = std::partition_point(intervals.begin(), intervals.end(),
                                   [time](const Interval& interval) { return interval.start <= time; });
  while (each != intervals.begin()) {
    --each;
    if (each->end > time) return each->kind;
    if (each->reach <= time) break;
  }
  return InstructionKind::Forward;
}

}  // namespace shardlab
