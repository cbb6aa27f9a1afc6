// Runs of the allocator over a predicted job's steps.
#include "simulator/memory/allocations/allocator_run.h"

#include <algorithm>

#include "simulator/memory/allocations/limited_runs.h"
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

TEST_CASE(
    "runs with less and less memory are those from the beginning, whatever the strategy and the options") {
  for (const std::string parallel : {"{strategy: fsdp1, wrap: {policy: transformer}}", "{strategy: fsdp2}",
                                     "{strategy: zero3}", "{strategy: ddp}"}) {
    const PlannedScenario planned =
        test::small_scenario("parallel: " + parallel, "accumulation: 3", "{gpu: H100-SXM, gpus_per_node: 2}",
                             "sequence_length: 512");
    const auto trace = simulate({planned, test::device_of(planned), nullptr});
    REQUIRE_OK(trace);
    const auto steps = prepare_steps(planned, steps_of(planned, *trace), WhoseStorages::framework);
    REQUIRE_OK(steps);
    for (const std::string options : {"", "expandable_segments:True", "max_split_size_mb:21",
                                      "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9"}) {
      AllocatorRunInputs inputs{parse_allocator_options(options).value(), {k_endless, k_endless}, {}};
      const LimitedRuns runs(inputs, *steps);
      const AllocatorStatistics& free = runs.unlimited().statistics;
      CHECK(free == run_allocator(inputs, *steps).statistics);
      const std::int64_t most = free.reserved_bytes.all.peak, least = free.requested_bytes.all.peak;
      for (int i = -4; i <= 21; ++i) {
        inputs.device.available = Bytes{std::max<std::int64_t>(least / 2, least + (most - least) * i / 20)};
        CAPTURE(parallel, options, i);
        const AllocatorRun whole = run_allocator(inputs, *steps);
        const AllocatorRun limited = runs.run_within(inputs.device.available);
        CHECK(limited.statistics == whole.statistics);
        CHECK(limited.failed.has_value() == whole.failed.has_value());
        CHECK(limited.steady_retries == whole.steady_retries);
        CHECK(limited.steady_device_calls == whole.steady_device_calls);
        CHECK(limited.first_reserved == whole.first_reserved);
        const FittingRun tried = runs.try_within(inputs.device.available),
                         expected = try_allocator(inputs, *steps);
        CHECK(tried.fits == expected.fits);
        CHECK(tried.reserved == expected.reserved);
      }
    }
  }
}

}  // namespace shardlab
