// Runs a prepared plan once on a device with queues: nothing blocks the host but the plan's own HostWaits;
// times come from events on the queues and are read when the step is over.
#pragma once

#include "engine/execute/streams/step_issuer.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/plan_runner.h"

namespace shardlab {

class DeviceStepRunner : public PlanRunner {
 public:
  // `run.backend` must be there. Both must outlive the runner.
  DeviceStepRunner(RunState& run, MemoryLedger& ledger);
  ~DeviceStepRunner() override;

  Status run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
             const Before& before) override;
  Nanoseconds began() const override { return began_; }
  void settle(Slot) override;

 private:
  class Body;
  void read_times(const PreparedPlan& prepared, Nanoseconds offset, RankTrace& trace);
  // The instruction that the device is stuck in, or that was being issued.
  InstructionId culprit();

  RunState& run_;
  MemoryLedger& ledger_;
  StepIssuer issuer_;
  IssuedStep issued_;
  Nanoseconds began_;
};

}  // namespace shardlab
