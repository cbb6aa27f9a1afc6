// Which phase of the step a host thread is in at a time. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/formats/profiler/profiler_trace.h"
#include "engine/plan/instruction.h"

namespace shardlab {

class HostPhases {
 public:
  explicit HostPhases(const ProfilerTrace& trace);

  // The phase that the innermost event around this time names; Forward where none names one.
  InstructionKind at(std::uint32_t thread, Nanoseconds time) const;

 private:
  struct Interval {
    Nanoseconds start, end;
    Nanoseconds reach;  // the latest end up to this one
    InstructionKind kind;
  };
  std::map<std::uint32_t, std::vector<Interval>> by_thread_;  // by start
};

}  // namespace shardlab
