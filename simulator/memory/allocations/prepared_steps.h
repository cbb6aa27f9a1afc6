// The steps of a run with their calls of the allocator, made once for every run of the allocator over them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/step_trace.h"
#include "simulator/memory/allocations/step_allocations.h"

namespace shardlab {

struct RunStep {
  std::int64_t number = 0;  // -1: the setup
  const StepPlan& plan;
  std::span<const Span> spans;  // by instruction
};

// A storage that outlives a step, by one number for all steps of the run.
struct NumberedStorage {
  std::uint32_t number = 0;  // below PreparedSteps::lasting
  StorageIndex storage = 0;  // within the step
  Bytes bytes;
  StreamId stream;
};

struct PreparedStep {
  RunStep step;
  StepAllocations made;
  std::vector<NumberedStorage> carried, kept;
};

struct PreparedSteps {
  std::vector<PreparedStep> steps;
  std::uint32_t lasting = 0;  // how many storages outlive a step
};

// What `steps` refer to must outlive the result. `device`: as in step_allocations(). Errors: internal where a
// plan and its programs disagree.
Result<PreparedSteps> prepare_steps(const PlannedScenario& planned, const std::vector<RunStep>& steps,
                                    WhoseStorages whose, Bytes device = {});

}  // namespace shardlab
