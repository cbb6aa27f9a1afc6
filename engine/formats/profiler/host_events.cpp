#include <algorithm>
#include <optional>

#include "engine/formats/profiler/host_events.h"
#include "engine/formats/profiler/work_names.h"

namespace shardlab {

HostOperators::HostOperators(const ProfilerTrace& trace) {
  for (const ProfilerEvent& event : trace.events) {
    if (event.category == ProfilerCategory::annotation && is_hook_of_fsdp(trace.names[event.name]))
      hooks_[event.thread].push_back(event.start);
    if (event.category == ProfilerCategory::operation ||
        (event.category == ProfilerCategory::annotation && is_gloo(trace.names[event.name])))
      by_thread_[event.thread].push_back(&event);
  }
  for (auto& [thread, begins] : hooks_) std::sort(begins.begin(), begins.end());
  for (auto& [thread, list] : by_thread_)
    std::stable_sort(list.begin(), list.end(), [](const ProfilerEvent* a, const ProfilerEvent* b) {
      return a->start != b->start ? a->start < b->start : a->end > b->end;
    });
}

const ProfilerEvent* HostOperators::innermost_at(std::uint32_t thread, Nanoseconds time) const {
  constexpr int k_siblings = 64;  // that may have ended before, inside the same operator
  const auto found = by_thread_.find(thread);
  if (found == by_thread_.end()) return nullptr;
  auto each = std::partition_point(found->second.begin(), found->second.end(),
                                   [time](const ProfilerEvent* event) { return event->start <= time; });
  for (int i = 0; i < k_siblings && each != found->second.begin(); ++i) {
    --each;
    if ((*each)->end >= time) return *each;
  }
  return nullptr;
}

std::vector<const ProfilerEvent*> HostOperators::outermost() const {
  std::vector<const ProfilerEvent*> events;
  for (const auto& [thread, list] : by_thread_) {
    std::optional<Nanoseconds> reach;
    for (const ProfilerEvent* const event : list) {
      if ((reach && event->start < *reach) || surrounds_hook(*event)) continue;
      reach = event->end;
      events.push_back(event);
    }
  }
  return events;
}

bool HostOperators::surrounds_hook(const ProfilerEvent& event) const {
  const auto found = hooks_.find(event.thread);
  if (found == hooks_.end()) return false;
  const auto next = std::lower_bound(found->second.begin(), found->second.end(), event.start);
  return next != found->second.end() && *next < event.end;
}

ModuleMarks::ModuleMarks(const ProfilerTrace& trace) {
  for (const ProfilerEvent& event : trace.events) {
    if (event.category != ProfilerCategory::annotation) continue;
    if (auto module = module_of_mark(trace.names[event.name]))
      marks_.push_back({event.start, event.end, event.thread, *std::move(module)});
  }
  std::stable_sort(marks_.begin(), marks_.end(),
                   [](const Mark& a, const Mark& b) { return a.start < b.start; });
}

std::string ModuleMarks::at(std::optional<std::uint32_t> thread, Nanoseconds time) const {
  constexpr int k_siblings = 64;  // that may have ended before, inside the same annotation
  auto each = std::partition_point(marks_.begin(), marks_.end(),
                                   [time](const Mark& mark) { return mark.start <= time; });
  for (int i = 0; i < k_siblings && each != marks_.begin(); ++i) {
    --each;
    if (each->end >= time && (!thread || each->thread == *thread)) return each->module;
  }
  return {};
}

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
