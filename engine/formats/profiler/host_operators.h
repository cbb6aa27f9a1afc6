// Operators on the threads of the host, nested as they are. Private to this folder.
#pragma once

#include <map>
#include <vector>

#include "engine/formats/profiler/profiler_trace.h"

namespace shardlab {

// Points into the trace, which must outlive it.
class HostOperators {
 public:
  explicit HostOperators(const ProfilerTrace& trace);

  // The one that the host was in: that began last before and has not ended; null when there is none.
  const ProfilerEvent* innermost_at(std::uint32_t thread, Nanoseconds time) const;

  // Those that are inside no other one, thread by thread, by start.
  std::vector<const ProfilerEvent*> outermost() const;

 private:
  std::map<std::uint32_t, std::vector<const ProfilerEvent*>> by_thread_;  // by start, the longer one first
};

}  // namespace shardlab
