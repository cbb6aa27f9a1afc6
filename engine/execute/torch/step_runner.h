// Runs a prepared plan once: issues its instructions on the queues of the run's backend, times them and
// samples memory. Times come from events on the queues and are read when the step is over.
#pragma once

#include <functional>

#include "engine/execute/streams/step_issuer.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/prepared_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

class StepRunner {
 public:
  // Both must outlive the runner.
  StepRunner(RunState& run, MemoryLedger& ledger, std::optional<Jitter> jitter = std::nullopt);

  // Called before each instruction.
  using Before = std::function<void(InstructionId)>;

  // Returns when the device is through. Fills spans and memory of `trace`. `before` may be empty. No
  // exception leaves: it becomes run_failed, with the instruction it is about (step_failure.h).
  Status run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace, const Before& before);

  // When the last run began, on this host's monotonic clock.
  Nanoseconds began() const { return began_; }

  // Blocks until everything that was issued is done. May throw.
  void settle() { run_.backend->streams().drain(); }

 private:
  class Body;
  void read_times(const PreparedPlan& prepared, Nanoseconds offset, RankTrace& trace);
  // The instruction that an exception is about.
  InstructionId culprit(const std::exception& error);

  RunState& run_;
  MemoryLedger& ledger_;
  StepIssuer issuer_;
  IssuedStep issued_;
  Nanoseconds began_;
};

}  // namespace shardlab
