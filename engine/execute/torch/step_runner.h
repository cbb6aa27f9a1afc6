// Runs a prepared plan once on the host: everything but collectives is done when it is issued.
#pragma once

#include <memory>
#include <vector>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/plan_runner.h"

namespace shardlab {

class StepRunner : public PlanRunner {
 public:
  StepRunner(RunState& run, MemoryLedger& ledger) : run_(run), ledger_(ledger) {}

  Status run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
             const Before& before) override;
  Nanoseconds began() const override { return began_; }
  void settle(Slot slot) override;

 private:
  void issue(std::uint32_t index, StepContext& step, RankTrace& trace);
  void await(std::uint32_t index);
  void finish(RankTrace& trace);
  Nanoseconds elapsed() const { return monotonic_now() - began_; }

  RunState& run_;
  MemoryLedger& ledger_;
  const PreparedPlan* prepared_ = nullptr;
  Nanoseconds began_;
  std::uint32_t current_ = 0;  // being issued, or waited for: whom an exception is about
  std::vector<std::unique_ptr<Pending>>
      pending_;  // by instruction; kept to the end of the step for its times
  std::vector<bool> running_;
};

}  // namespace shardlab
