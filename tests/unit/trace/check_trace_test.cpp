#include "engine/trace/check_trace.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

std::string problem_of(const StepTrace& step) {
  const StepPlan plan = hand_made_plan();
  const Status status = check_trace(plan, plan_hash(plan), step);
  return status ? "" : to_string(status.error());
}

}  // namespace

TEST_CASE("a trace that fits its plan") {
  CHECK(problem_of(hand_made_step(3, 2)).empty());
}

TEST_CASE("a trace that does not fit its plan is refused with the reason") {
  StepTrace step = hand_made_step(3, 2);
  std::string expected;
  SECTION("another plan") {
    step.plan_hash = "feed";
    expected = "trace of step 3: it was recorded with plan feed";
  }
  SECTION("no rank") {
    step.ranks.clear();
    expected = "it has no rank";
  }
  SECTION("a rank twice") {
    step.ranks[1].rank = 0;
    expected = "step 3, rank 0: the rank is there twice";
  }
  SECTION("an instruction beyond the plan") {
    step.ranks[1].spans[6].instruction = {7};
    expected = "step 3, rank 1: instruction 7 is not in the plan, which has 7";
  }
  SECTION("an instruction twice") {
    step.ranks[0].memory[4].instruction = {3};
    expected = "instruction 3 follows instruction 3";
  }
  SECTION("time runs backwards") {
    step.ranks[0].spans[2].end = {199};
    expected = "instruction 2 ends before it starts";
  }
  CHECK_THAT(problem_of(step), contains_text(expected));
}
