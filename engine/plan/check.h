// Proves, without running it, that a plan is sound.
//
// Proved: no two buffers have one name; every buffer read is alive and was written; nothing is allocated
// twice, freed twice or used after its free; on the device, readers come after writers and writers after
// readers (in stream order or through waits); memory of one stream is not handed out again while another
// stream may still use it; waits point backwards, hence are acyclic; members of a group issue its collectives
// in one order (there is one plan for all); what is not kept is freed; every gradient is reduced exactly once
// per reduction where the plan has collectives; parameters are gathered before compute reads them; segments
// are run again at most once, and only if their forward kept nothing; only copies cross from one memory space
// to another; what a processor does on host memory waited for the device; a copy of parameters that outlives
// the step was made of updated ones. Milliseconds for thousands of instructions.
#pragma once

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// The first defect found, named by instruction; Error::kind is internal: a strategy made a wrong plan.
Status check_plan(const StepPlan& plan);

// check_plan of all steps; what each leaves is what the next takes over; the steady step follows itself.
Status check_run(const RunPlan& run);

}  // namespace shardlab
