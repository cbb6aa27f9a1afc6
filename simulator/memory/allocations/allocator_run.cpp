#include "simulator/memory/allocations/allocator_run.h"

#include "simulator/memory/allocations/allocator_runner.h"

namespace shardlab {

AllocatorRun run_allocator(const AllocatorRunInputs& inputs, const PreparedSteps& steps) {
  return AllocatorRunner(inputs, steps, WatchedRun::nothing).run(steps.steps);
}

FittingRun try_allocator(const AllocatorRunInputs& inputs, const PreparedSteps& steps) {
  return fitting(AllocatorRunner(inputs, steps, WatchedRun::steps).run(steps.steps));
}

bool repeats_by_micro_batch(const AllocatorRunInputs& inputs, const PreparedSteps& steps) {
  AllocatorRunner runner(inputs, steps, WatchedRun::micro_batches);
  runner.run(steps.steps);
  return runner.even();
}

}  // namespace shardlab
