// The steps of one rank in a profiler's trace: what ran when, in lanes. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/formats/profiler/profiler_trace.h"
#include "engine/plan/instruction.h"

namespace shardlab {

// A kernel or copy on a device's stream; without a device an operator on a thread of the host, the outermost
// of those that are nested, or a collective of Gloo's, on a lane of its own. Times count from the beginning
// of the step.
struct ProfiledWork {
  std::uint32_t lane = 0;   // in ProfiledRank::lanes
  std::uint32_t name = 0;   // in ProfiledRank::names; of a collective the module that it is for, if known
  std::uint32_t place = 0;  // likewise: the operator that launched it
  InstructionKind kind = InstructionKind::Forward;
  Nanoseconds issue{};  // the host launched it
  Nanoseconds start{};
  Nanoseconds end{};
  Bytes bytes{};       // of a collective, where the trace says it
  int group_size = 0;  // likewise
};

struct ProfiledStep {
  std::int64_t number = 0;
  Nanoseconds begin;                   // on the profiler's clock
  std::vector<ProfiledWork> work;      // by issue
  std::vector<ProfilerMemory> memory;  // of the device, or of the host where there is none; times as above
};

struct ProfiledRank {
  std::vector<std::string> lanes;  // the one that computes most comes first
  std::vector<std::string> names;  // words
  std::vector<ProfiledStep> steps;
  bool on_device = false;
};

// Steps are what ProfilerStep#N spans on the host; what was launched in one belongs to it. A trace without
// such marks is one step. A step in which nothing ran is left out.
ProfiledRank profiled_steps(const ProfilerTrace& trace);

}  // namespace shardlab
