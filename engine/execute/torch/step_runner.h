// Runs a prepared plan once: issues the instructions in order, times them, samples memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/prepared_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

class StepRunner {
 public:
  StepRunner(RunState& run, MemoryLedger& ledger) : run_(run), ledger_(ledger) {}

  using Before = std::function<void(InstructionId)>;

  // Fills spans and memory of `trace`. `before` may be empty. No exception leaves.
  Status run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace, const Before& before);

  Nanoseconds began() const { return began_; }

  // Blocks until the collectives that use the slot are done.
  void settle(Slot slot);

 private:
  void issue(std::uint32_t index, StepContext& step, RankTrace& trace);
  bool is_skipped(const PreparedInstruction& instruction, StepContext& step) const;
  void await(std::uint32_t index);
  void finish(RankTrace& trace);
  Error failure(const StepContext& step, std::uint32_t index, const char* message) const;
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
