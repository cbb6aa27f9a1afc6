#include "engine/trace/step_time.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("step time spans all ranks on their common clock") {
  StepTrace step = hand_made_step(0, 2);
  CHECK(step_time(step) == Nanoseconds{510});
  step.ranks[1].start_offset = {25};  // ends at 535
  CHECK(step_time(step) == Nanoseconds{535});
  step.ranks[0].spans.erase(step.ranks[0].spans.begin());  // rank 0 now issues first at 10
  CHECK(step_time(step) == Nanoseconds{525});
}

TEST_CASE("step time without spans comes from the recorded durations") {
  StepTrace step = hand_made_step(0, 1);
  step.ranks[0].spans.clear();
  step.ranks[0].duration = {700};
  CHECK(step_time(step) == Nanoseconds{700});
  CHECK(step_time(StepTrace{}) == Nanoseconds{0});
}

TEST_CASE("median") {
  CHECK(median({{3}, {1}, {2}}) == Nanoseconds{2});
  CHECK(median({{4}, {1}, {2}, {10}}) == Nanoseconds{3});
  CHECK(median({{4}, {1}, {2}, {7}, {6}, {8}}) == Nanoseconds{5});
  CHECK(median({{9}}) == Nanoseconds{9});
}

TEST_CASE("median durations join steps and ranks by instruction") {
  const StepTrace step = hand_made_step(0, 2);
  std::vector<StepTrace> steps = {step, stretched(step, 200), stretched(step, 300)};
  auto durations = median_durations(hand_made_plan(), steps);
  REQUIRE(durations.size() == 7);
  CHECK(durations[0] == Nanoseconds{200});  // 100 100 200 200 300 300
  CHECK(durations[2] == Nanoseconds{400});
  for (StepTrace& each : steps) {
    for (RankTrace& rank : each.ranks) rank.spans[0].skipped = true;
  }
  CHECK_FALSE(median_durations(hand_made_plan(), steps)[0].has_value());
}
