#include "engine/formats/profiler/step_windows.h"

#include <algorithm>

#include "engine/formats/profiler/work_names.h"

namespace shardlab {

std::vector<StepWindow> step_windows(const ProfilerTrace& trace) {
  std::vector<StepWindow> windows;
  for (const ProfilerEvent& event : trace.events) {
    if (event.category != ProfilerCategory::annotation) continue;
    if (const auto number = step_number(trace.names[event.name]))
      windows.push_back({*number, event.start, event.end});
  }
  std::sort(windows.begin(), windows.end(),
            [](const StepWindow& a, const StepWindow& b) { return a.begin < b.begin; });
  if (!windows.empty() || trace.events.empty()) return windows;
  StepWindow all{0, trace.events.front().start, trace.events.front().end};
  for (const ProfilerEvent& event : trace.events) {
    all.begin = std::min(all.begin, event.start);
    all.end = std::max(all.end, event.end + Nanoseconds{1});
  }
  return {all};
}

}  // namespace shardlab
