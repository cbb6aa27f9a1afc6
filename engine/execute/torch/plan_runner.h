// Runs a prepared plan once: issues the instructions in order, times them, samples memory.
//
// Two ways: StepRunner on a processor, where everything but collectives is done when it is issued, and
// DeviceStepRunner on a device with queues.
#pragma once

#include <functional>

#include "engine/execute/torch/prepared_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

class PlanRunner {
 public:
  PlanRunner() = default;
  PlanRunner(const PlanRunner&) = delete;
  PlanRunner& operator=(const PlanRunner&) = delete;
  virtual ~PlanRunner() = default;

  using Before = std::function<void(InstructionId)>;

  // Fills spans and memory of `trace`. `before` may be empty. No exception leaves.
  virtual Status run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
                     const Before& before) = 0;

  // When the last run began, on this host's monotonic clock.
  virtual Nanoseconds began() const = 0;

  // Blocks until whoever still writes the slot is done.
  virtual void settle(Slot slot) = 0;
};

}  // namespace shardlab
