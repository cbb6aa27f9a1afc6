// What the host did, of the events of a profile: operators, and phases of the step.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/formats/profiler/profiler_trace.h"
#include "engine/plan/instruction.h"

namespace shardlab {

// Points into the trace, which must outlive it. Gloo's collectives, which are annotations, count as
// operators.
class HostOperators {
 public:
  explicit HostOperators(const ProfilerTrace& trace);

  // The one that the host was in: that began last before and has not ended; null when there is none.
  const ProfilerEvent* innermost_at(std::uint32_t thread, Nanoseconds time) const;

  // Those that are inside no other one, thread by thread, by start. An operator of autograd around a hook of
  // FSDP, which gathers, reduces and waits, is none: those inside of it are.
  std::vector<const ProfilerEvent*> outermost() const;

 private:
  bool surrounds_hook(const ProfilerEvent& event) const;

  std::map<std::uint32_t, std::vector<const ProfilerEvent*>> by_thread_;  // by start, the longer one first
  std::map<std::uint32_t, std::vector<Nanoseconds>> hooks_;               // where they begin, ascending
};

// Whose parameters a host thread gathers, or whose gradients it reduces, at a time. Points into the trace.
class ModuleMarks {
 public:
  explicit ModuleMarks(const ProfilerTrace& trace);

  // The module of the innermost annotation around this time that names one (work_names.h); without a thread,
  // on any. Empty where there is none.
  std::string at(std::optional<std::uint32_t> thread, Nanoseconds time) const;

 private:
  struct Mark {
    Nanoseconds start, end;
    std::uint32_t thread;
    std::string module;
  };
  std::vector<Mark> marks_;  // by start
};

// Which phase of the step a host thread is in at a time.
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
