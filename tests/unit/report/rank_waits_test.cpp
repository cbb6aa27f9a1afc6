// Which ranks others wait for, by hand.
#include "engine/report/rank_waits_table.h"

#include <nlohmann/json.hpp>

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"

namespace shardlab::test {
namespace {

Scenario two_ranks() {
  const auto scenario = parse_scenario(
      "name: two\nmodel: {config: tiny-llama, sequence_length: 32}\ncluster: {device: cpu, ranks: "
      "2}\nparallel: {strategy: fsdp2}\n",
      "two.yaml");
  REQUIRE_OK(scenario);
  return *scenario;
}

// Rank 1 takes half as long again, so that it comes to the reduce-scatter at 600 in place of 400.
StepTrace uneven_step(std::int64_t number) {
  StepTrace step = hand_made_step(number, 2);
  StepTrace slow = stretched(step, 150);
  step.ranks[1] = slow.ranks[1];
  return step;
}

TEST_CASE("who comes last is waited for") {
  const std::vector<StepTrace> steps{uneven_step(1), uneven_step(2)};
  const std::vector<RankWait> ranks = rank_waits(hand_made_plan(), two_ranks(), steps);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0] == RankWait{0, {510}, {350}, {200}, 2, 0, {0}});
  CHECK(ranks[1] == RankWait{1, {765}, {525}, {0}, 2, 1, {200}});
}

TEST_CASE("ranks that start at different times are compared on one clock") {
  StepTrace step = hand_made_step(1, 2);
  step.ranks[0].start_offset = {30};
  const std::vector<StepTrace> steps{step};
  const std::vector<RankWait> ranks = rank_waits(hand_made_plan(), two_ranks(), steps);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[1].waits.value == 60);
  CHECK(ranks[0].last == 2);
  CHECK(ranks[0].held_up.value == 60);
}

TEST_CASE("one rank that stands for all, or a rank without a trace, says nothing") {
  const std::vector<StepTrace> alone{hand_made_step(1)};
  CHECK(rank_waits(hand_made_plan(), two_ranks(), alone).empty());
  StepTrace skipped = uneven_step(1);
  for (Span& span : skipped.ranks[1].spans) span.skipped = true;
  const std::vector<StepTrace> steps{skipped};
  const std::vector<RankWait> ranks = rank_waits(hand_made_plan(), two_ranks(), steps);
  CHECK(ranks[0].waits.value == 0);
  CHECK(ranks[0].collectives == 0);
}

TEST_CASE("a step of other ranks than the first's is left out") {
  std::vector<StepTrace> steps{uneven_step(1), uneven_step(2), uneven_step(3)};
  steps[1].ranks.pop_back();
  steps[2].ranks.push_back(steps[2].ranks.back());
  steps[2].ranks.back().rank = 7;
  CHECK(rank_waits(hand_made_plan(), two_ranks(), steps) ==
        rank_waits(hand_made_plan(), two_ranks(), std::vector{uneven_step(1)}));
}

TEST_CASE("the table begins with who holds up most, and sums up the rest") {
  const std::vector<StepTrace> steps{uneven_step(1)};
  const std::vector<RankWait> ranks = rank_waits(hand_made_plan(), two_ranks(), steps);
  const std::string text = rank_table(ranks, TextStyle{});
  CHECK(text.find("rank 1") < text.find("rank 0"));
  CHECK_THAT(rank_table(ranks, TextStyle{}, 1), contains_text("median of 1 others"));
  CHECK(rank_waits_json(ranks)[1]["held_up_ns"] == 200);
}

}  // namespace
}  // namespace shardlab::test
