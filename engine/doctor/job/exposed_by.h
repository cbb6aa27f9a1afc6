// Which collectives computation waits for in a predicted step.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/ids.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// The exposed time of all collectives of a kind over a group.
struct ExposedBy {
  InstructionKind kind = InstructionKind::AllGather;
  std::optional<GroupId> group;
  Nanoseconds exposed;     // of the step's exposed communication, the part in which one of them runs
  Nanoseconds takes;       // all of them together
  std::int64_t count = 0;  // of them
  InstructionId worst;     // that alone exposes most
  Nanoseconds worst_exposed;
};

// The most exposed first. Where several run at once the time is that of the one that ends last.
std::vector<ExposedBy> exposed_by(const StepPlan& plan, const RankTrace& rank);

}  // namespace shardlab
