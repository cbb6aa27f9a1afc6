// Memory of a run from its traces: peaks, what they are made of, phases.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// The phase that this instruction begins; none: it belongs to the phase before it. Gradients that become zero
// where they lie do so before a backward.
std::optional<StepPhase> phase_that_begins(const Instruction& instruction);

// By instruction. A step begins in `forward`; a Backward or Recompute begins `backward`, a Forward of the
// next micro-batch `forward` again; norms, clipping, the optimizer and zeroing are `optimizer`. What stands
// between belongs to the phase before it.
std::vector<StepPhase> phases_of(const StepPlan& plan);

// The highest peak over steps and ranks, the first one where several are equal. Absent when no rank recorded
// memory. The traces must fit the plan (check_trace).
std::optional<MemorySummary> summarize_memory(const StepPlan& plan, std::span<const StepTrace> steps);

}  // namespace shardlab
