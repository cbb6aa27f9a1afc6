// The critical path of a predicted step: the chain of work, each piece of which began when the one before it
// ended, from the beginning of the step to its end. A step gets shorter only by what shortens this chain.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/exposed_communication.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct PathPiece {
  std::optional<InstructionId> instruction;  // that runs; none: the host issues, and the device waits for it
  TimeInterval when;
  std::optional<InstructionId> issued;  // where the host issues: what it comes to at the end
};

// In order of time, without gaps or overlaps, from the first issue to the last end. What bounds a piece is
// read from the times alone: a predecessor ended at the very nanosecond at which the piece began (what it
// waits for, its stream, collectives of its group, in this order); where none did, the host came to it so
// late. A host that waited for the device (HostWait) leads back to the device. Compute whose end is the
// moment at which the host goes on was bounded by its launches: that is the host's time too, unless the host
// itself did it (an update in host memory; everything where `host_computes`, as on processors).
//
// The spans must be exact and in issue order, as a prediction's are; a measured rank has no such path.
std::vector<PathPiece> critical_path(const StepPlan& plan, const RankTrace& rank, bool host_computes);

}  // namespace shardlab
