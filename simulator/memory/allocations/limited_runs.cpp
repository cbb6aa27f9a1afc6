#include "simulator/memory/allocations/limited_runs.h"

#include <algorithm>
#include <span>
#include <utility>

#include "simulator/memory/allocations/allocator_runner.h"

namespace shardlab {

struct LimitedRuns::Beginning {
  std::size_t step;
  AllocatorRunner run;
};

LimitedRuns::LimitedRuns(AllocatorRunInputs inputs, const PreparedSteps& steps)
    : inputs_(std::move(inputs)), steps_(steps) {
  const auto begins = [&](const AllocatorRunner& run) { beginnings_.push_back({beginnings_.size(), run}); };
  unlimited_ = AllocatorRunner(inputs_, steps, WatchedRun::nothing).run(steps.steps, begins);
}

LimitedRuns::~LimitedRuns() = default;

const LimitedRuns::Beginning& LimitedRuns::beginning_within(Bytes available) const {
  const auto last = std::find_if(beginnings_.rbegin(), beginnings_.rend(), [&](const Beginning& each) {
    return each.step == 0 || each.run.most_reserved() <= available;
  });
  return *last;
}

AllocatorRun LimitedRuns::run_within(Bytes available) const {
  const auto& [step, run] = beginning_within(available);
  return run.within(available, WatchedRun::nothing).run(std::span(steps_.steps).subspan(step));
}

FittingRun LimitedRuns::try_within(Bytes available) const {
  const auto& [step, run] = beginning_within(available);
  return fitting(run.within(available, WatchedRun::steps).run(std::span(steps_.steps).subspan(step)));
}

}  // namespace shardlab
