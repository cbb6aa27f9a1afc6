// When the steps of a profiler's trace were, on the host. Private to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/formats/profiler/profiler_trace.h"

namespace shardlab {

struct StepWindow {
  std::int64_t number = 0;
  Nanoseconds begin, end;
};

// The windows by begin. Without marks of steps one window is around everything; without events there is none.
std::vector<StepWindow> step_windows(const ProfilerTrace& trace);

}  // namespace shardlab
