// train.accumulation: how many micro-batches a plan can have.
#include <string>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/planner/check_micro_batches.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Result<PlannedScenario> planned_with(const std::string& strategy, std::int64_t micro_batches) {
  const auto scenario = parse_scenario(
      fmt::format("model: {{config: tiny-llama, sequence_length: 64}}\ncluster: {{node: hgx-h100}}\n"
                  "parallel: {{strategy: {}}}\ntrain: {{micro_batch: 1, accumulation: {}}}\n",
                  strategy, micro_batches),
      "a.yaml");
  REQUIRE_OK(scenario);
  return plan_scenario(*scenario);
}

// The number behind "at most ".
std::int64_t most_named(const Error& error) {
  const std::string begin = "at most ";
  REQUIRE(error.hint.starts_with(begin));
  const auto number = parse_integer(error.hint.substr(begin.size(), error.hint.find(';') - begin.size()));
  REQUIRE_OK(number);
  return *number;
}

}  // namespace

TEST_CASE(
    "more micro-batches than memory holds are refused before they are planned, with the most that works") {
  for (const char* const strategy : {"fsdp2", "fsdp1", "ddp", "native", "zero1", "zero3"}) {
    INFO(strategy);
    const auto refused = planned_with(strategy, 1 << 20);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::bad_input);
    CHECK(refused.error().place.name == "train.accumulation");
    CHECK_THAT(refused.error().what, test::contains_text("the plan of 1048576 micro-batches has "));
    CHECK_THAT(refused.error().hint, test::contains_text("shardlab search"));
    const std::int64_t most = most_named(refused.error());
    CHECK(most > 1'000);

    auto planned = planned_with(strategy, 100);
    REQUIRE_OK(planned);
    // What is foreseen of a micro-batch is what it has, but for what the generic passes add and take.
    const StepPlan& plan = planned->plan.steady;
    const auto parts = static_cast<double>(plan.instructions.size() + plan.buffers.size());
    CHECK(parts / 100 * static_cast<double>(most) == Approx(k_most_parts_of_step).epsilon(0.3));

    const auto strategies = find_run_strategies(planned->scenario);
    REQUIRE_OK(strategies);
    planned->scenario.train->accumulation = static_cast<int>(most);
    CHECK(check_micro_batches(*planned, *strategies).has_value());
    planned->scenario.train->accumulation = static_cast<int>(most + 1);
    CHECK_FALSE(check_micro_batches(*planned, *strategies).has_value());
  }
}

TEST_CASE("a single micro-batch is never too many, however many layers it has") {
  auto planned = planned_with("fsdp2", 1);
  REQUIRE_OK(planned);
  const auto strategies = find_run_strategies(planned->scenario);
  REQUIRE_OK(strategies);
  CHECK(check_micro_batches(*planned, *strategies).has_value());
}

}  // namespace shardlab
