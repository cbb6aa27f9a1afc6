// A run's steps on devices that have less and less memory. A limit shows when the allocator asks the device
// for more: the steps in which a run without one reserved no more than that are not run again. The results
// are those of run_allocator() and try_allocator(). Threads may share one.
#pragma once

#include <vector>

#include "simulator/memory/allocations/allocator_run.h"

namespace shardlab {

class LimitedRuns {
 public:
  // Runs the steps on the device of `inputs`, which note no calls. The steps must outlive it.
  LimitedRuns(AllocatorRunInputs inputs, const PreparedSteps& steps);
  ~LimitedRuns();
  LimitedRuns(const LimitedRuns&) = delete;
  LimitedRuns& operator=(const LimitedRuns&) = delete;

  const AllocatorRun& unlimited() const { return unlimited_; }
  // On a device with so much, not more than that of `inputs`.
  AllocatorRun run_within(Bytes available) const;
  FittingRun try_within(Bytes available) const;

 private:
  struct Beginning;
  const Beginning& beginning_within(Bytes available) const;

  AllocatorRunInputs inputs_;
  const PreparedSteps& steps_;
  std::vector<Beginning> beginnings_;  // of the unlimited run, one a step
  AllocatorRun unlimited_;
};

}  // namespace shardlab
