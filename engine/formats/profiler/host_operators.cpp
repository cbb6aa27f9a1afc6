#include "engine/formats/profiler/host_operators.h"

#include <algorithm>
#include <optional>

namespace shardlab {

HostOperators::HostOperators(const ProfilerTrace& trace) {
  for (const ProfilerEvent& event : trace.events)
    if (event.category == ProfilerCategory::operation) by_thread_[event.thread].push_back(&event);
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
      if (reach && event->start < *reach) continue;
      reach = event->end;
      events.push_back(event);
    }
  }
  return events;
}

}  // namespace shardlab
