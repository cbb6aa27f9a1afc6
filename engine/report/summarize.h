// Makes the figures that people compare of a plan and the traces of its run. Definitions: docs/glossary.md.
#pragma once

#include <optional>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/hashed_plans.h"
#include "engine/trace/out_of_memory.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// What is known of the device of one rank.
struct DeviceLimits {
  std::optional<FlopsPerSecond> peak;     // dense, for the compute dtype
  std::optional<Bytes> memory;            // the scenario's memory_limit comes first
  std::optional<Bytes> host_memory = {};  // of a node, when known
};

// Fails with bad_input when the trace has no measured step or does not follow the scenario's steady plan. A
// trace without hashes (left_out) was made of this very plan.
Result<RunSummary> summarize(const PlannedScenario& planned, const RunTrace& trace,
                             const DeviceLimits& device = {}, HashedPlans hashes = HashedPlans::given);

// What the steady plan and its trace tell by themselves: everything but rates, volume and skipped steps. For
// runs without a scenario, whose tokens nobody knows. Errors as summarize().
Result<RunSummary> summarize_recorded(const StepPlan& steady, const RunTrace& trace,
                                      std::optional<Bytes> memory_limit = {});

// What a step does, whatever time it takes. All of it grows with the number of micro-batches.
struct StepWork {
  std::int64_t tokens = 0;  // whose loss is computed, over all ranks
  Flops flops;              // of one rank (model_flops.h)
  std::optional<Flops> palm_flops;
};
StepWork work_of_step(const PlannedScenario& planned);

// Fills in what follows from the step time and the work: tokens per second and utilization.
void add_rates(const StepWork& work, const DeviceLimits& device, RunSummary& run);

// Summarizes a measured run that memory ended: what was in use when, no times. `trace` has the provenance;
// its finished steps do not matter.
RunSummary summarize_out_of_memory(const PlannedScenario& planned, const RunTrace& trace,
                                   const OutOfMemory& ended, const DeviceLimits& device = {});

// Tokens whose loss is computed in one step, over all ranks and micro-batches.
std::int64_t tokens_per_step(const PlannedScenario& planned);

}  // namespace shardlab
