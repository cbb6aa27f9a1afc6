// The simulated executor: what a planned scenario would do on a device, on a virtual clock.
//
// Pure: the same inputs give the same trace, to the byte. Times are integer nanoseconds. Calls may run in
// parallel.
#pragma once

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/hashed_plans.h"
#include "engine/trace/step_trace.h"
#include "simulator/calibrate/calibration.h"
#include "simulator/memory/allocations/allocator_run.h"

namespace shardlab {

struct Device;  // engine/hardware/device.h
struct Spread;  // simulator/spread/spread.h

struct SimulationInputs {
  const PlannedScenario& planned;
  const Device& device;
  const Calibration* calibration =
      nullptr;  // null: coefficients of published figures; else it must be of as many ranks and threads
  const Spread* spread = nullptr;  // null: one rank that stands for all
};

// The most instructions of all ranks together that are simulated with a spread: a gigabyte.
inline constexpr std::int64_t k_most_instructions_of_ranks = 16'000'000;

// One representative rank, or with a spread all of them in the steady step; memory is that of rank 0.
// `warmup` holds the setup (step -1) and the first step (step 0), `steps` the steady step (step 1): every
// later one is the same, because a step ends when everything in it has ended, as in the real executor.
// Provenance says what was calibrated and what the numbers leave out.
//
// Errors: a calibration of another machine or number of ranks (bad_input); more ranks with a spread than
// k_most_instructions_of_ranks allows (bad_input at --ranks); a step of months (check_step_length.h); a plan
// whose instructions do not fit together (internal).
Result<RunTrace> simulate(const SimulationInputs& inputs, HashedPlans hashes = HashedPlans::given);

// The calls of torch's caching allocator in the steps of such a prediction, without a limit of memory: the
// setup, the first steps, and the steady one until it takes no more from the device.
Result<AllocatorCalls> allocator_calls(const SimulationInputs& inputs, const RunTrace& predicted);

// Whether each micro-batch in the middle of a step leaves the device's memory as the one before it did. On
// processors always: what is freed is gone.
Result<bool> repeats_by_micro_batch(const SimulationInputs& inputs, const RunTrace& predicted);

}  // namespace shardlab
