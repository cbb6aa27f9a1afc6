#include "engine/planner/check_micro_batches.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/driver.h"

namespace shardlab {
namespace {

// Instructions and buffers of a first step of so many micro-batches, before its optimizer and the generic
// passes.
std::int64_t parts_of_step(const PlannedScenario& planned, const RunStrategies& run, int micro_batches) {
  Scenario few = planned.scenario;
  few.train->accumulation = micro_batches;
  StepBuilder builder(planned.graph, planned.partition, PlanPhase::first, strategy_name(few));
  StepStrategies strategies(builder, run, few);
  strategies.each([](Strategy& strategy) { strategy.declare_persistent(); });
  drive_step(builder, strategies, few);
  return std::ssize(builder.plan().instructions) + std::ssize(builder.plan().buffers);
}

}  // namespace

Status check_micro_batches(const PlannedScenario& planned, const RunStrategies& strategies) {
  constexpr std::int64_t k_of_operator = 16;  // more parts of a micro-batch than any strategy makes
  const std::int64_t micro_batches = micro_batches_of_step(planned.scenario);
  const std::int64_t at_most = micro_batches * k_of_operator * std::ssize(planned.graph.operators);
  if (micro_batches == 1 || at_most <= k_most_parts_of_step) return {};
  const std::int64_t three = parts_of_step(planned, strategies, 3);
  const std::int64_t each = std::max<std::int64_t>(1, three - parts_of_step(planned, strategies, 2));
  const std::int64_t beside = three - 3 * each, all = beside + each * micro_batches;
  if (all <= k_most_parts_of_step) return {};
  return bad_input(
      "train.accumulation",
      fmt::format(
          "the plan of {} micro-batches has {} instructions and buffers: more than {} take over 8 GiB",
          micro_batches, all, k_most_parts_of_step),
      fmt::format("at most {}; `shardlab search` predicts longer steps from short ones",
                  std::max<std::int64_t>(1, (k_most_parts_of_step - beside) / each)));
}

}  // namespace shardlab
