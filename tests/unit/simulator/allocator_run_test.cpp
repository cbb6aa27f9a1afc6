// Runs of the allocator over a predicted job's steps.
#include "simulator/memory/allocations/allocator_run.h"

#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

constexpr Bytes k_endless = {std::int64_t{1} << 50U};

// Three micro-batches of a model whose buffers are large enough to be blocks of their own.
PlannedScenario accumulating() {
  return test::small_scenario("parallel: {strategy: fsdp1, wrap: {policy: transformer}}", "accumulation: 3",
                              "{gpu: H100-SXM, gpus_per_node: 2}", "sequence_length: 512");
}

std::vector<RunStep> steps_of(const PlannedScenario& planned, const RunTrace& run) {
  std::vector<RunStep> steps;
  for (const auto* traces : {&run.warmup, &run.steps})
    for (const StepTrace& step : *traces)
      steps.push_back({step.step, planned.plan.step(step.step), step.ranks.front().spans});
  return steps;
}

}  // namespace

TEST_CASE("a run that ends where its state repeats finds what the whole run finds") {
  const PlannedScenario planned = accumulating();
  const auto trace = simulate({planned, test::device_of(planned), nullptr});
  REQUIRE_OK(trace);
  const auto steps = prepare_steps(planned, steps_of(planned, *trace), WhoseStorages::framework);
  REQUIRE_OK(steps);
  AllocatorRunInputs inputs{{}, {k_endless, k_endless}, {}};
  const AllocatorStatistics free = run_allocator(inputs, *steps).statistics;
  const std::int64_t most = free.reserved_bytes.all.peak, least = free.requested_bytes.all.peak;
  int worked = 0, failed = 0, retried = 0;
  for (int i = -2; i <= 20; ++i) {
    inputs.device.available = Bytes{least + (most - least) * i / 20};
    const AllocatorRun whole = run_allocator(inputs, *steps);
    const FittingRun tried = try_allocator(inputs, *steps);
    CAPTURE(i, to_string(inputs.device.available));
    CHECK(tried.fits == !whole.failed);
    CHECK(tried.reserved.value == whole.statistics.reserved_bytes.all.peak);
    ++(tried.fits ? worked : failed);
    if (whole.steady_device_calls > 0 && tried.fits) ++retried;
  }
  CHECK(worked > 0);
  CHECK(failed > 0);
  CHECK(retried > 0);
}

}  // namespace shardlab
