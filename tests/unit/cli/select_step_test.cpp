#include "engine/cli/select_step.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("a step is named or numbered from 0") {
  RunPlan plan;
  CHECK(*select_step(plan, "setup") == &plan.setup);
  CHECK(*select_step(plan, "first") == &plan.first);
  CHECK(*select_step(plan, "steady") == &plan.steady);
  CHECK(*select_step(plan, "0") == &plan.first);
  CHECK(*select_step(plan, "1") == &plan.steady);
  CHECK(*select_step(plan, "1000") == &plan.steady);
}

TEST_CASE("another step is refused with the nearest name") {
  RunPlan plan;
  for (const std::string step : {"stedy", "-1", "1.5", ""}) {
    const auto result = select_step(plan, step);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::bad_input);
    CHECK(where_text(result.error()) == "--step");
  }
  CHECK_THAT(select_step(plan, "stedy").error().hint, test::contains_text("'steady'"));
}

}  // namespace
}  // namespace shardlab
