// How ranks differ: draws, options, and what a straggler costs by the laws of the largest of many.
#include "simulator/spread/spread.h"

#include <cmath>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/check_trace.h"
#include "simulator/core/rank_timelines.h"
#include "simulator/simulate.h"
#include "simulator/spread/draw.h"
#include "simulator/spread/rank_meetings.h"
#include "simulator/spread/rank_times.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

TEST_CASE("draws are about normal and depend on their key alone") {
  constexpr int k_draws = 100'000;
  double sum = 0, squares = 0, fourth = 0;
  int beyond_two = 0;
  for (int i = 0; i < k_draws; ++i) {
    const double draw = draw_normal({7, 1, 2, static_cast<std::uint64_t>(i)});
    sum += draw;
    squares += draw * draw;
    fourth += draw * draw * draw * draw;
    beyond_two += std::abs(draw) > 2 ? 1 : 0;
  }
  CHECK(std::abs(sum / k_draws) < 0.01);
  CHECK(squares / k_draws == Approx(1).epsilon(0.01));
  CHECK(fourth / k_draws == Approx(2.9).epsilon(0.03));  // 3 - 1.2 / 12 of twelve even numbers
  CHECK(beyond_two / double(k_draws) == Approx(0.0455).margin(0.003));
  CHECK(draw_normal({7, 1, 2, 3}) == draw_normal({7, 1, 2, 3}));
  CHECK(draw_normal({7, 1, 2, 3}) != draw_normal({8, 1, 2, 3}));
  CHECK(draw_normal({7, 1, 2, 3}) != draw_normal({7, 2, 1, 3}));
}

// Devices compute, then all meet: a step is as long as the slowest computes.
double mean_step(int ranks, const Spread& spread, int seeds) {
  const std::vector<InstructionId> first{InstructionId{0}};
  std::vector<TimedInstruction> instructions(2);
  instructions[0].occupation = Occupation::compute;
  instructions[0].duration = {1'000'000'000};
  instructions[1].occupation = Occupation::collective;
  instructions[1].stream = 1;
  instructions[1].waits = first;
  std::vector<GroupMeetings> meetings(1);
  meetings[0].members.emplace_back();
  meetings[0].of_rank.assign(static_cast<std::size_t>(ranks), 0);
  for (int rank = 0; rank < ranks; ++rank) meetings[0].members[0].push_back(rank);
  const TimelineOptions options{HostBehaviour::asynchronous, 2, 1, 0, {}};
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    Spread seeded = spread;
    seeded.seed = seed;
    const auto times = rank_times(instructions, meetings, seeded, ranks, 1);
    const auto spans = run_rank_timelines(options, instructions, times, meetings);
    REQUIRE_OK(spans);
    sum += static_cast<double>(timeline_duration(spans->front()).value) / 1e9;
  }
  return sum / seeds;
}

TEST_CASE("the slowest of many is as slow as order statistics say") {
  Spread spread;
  spread.gpus = 0.01;
  // Expected largest of n normal draws (Tippett 1925): 1.0296 of 4, 1.4236 of 8, 2.3440 of 64.
  CHECK((mean_step(4, spread, 800) - 1) / 0.01 == Approx(1.0296).margin(0.08));
  CHECK((mean_step(8, spread, 800) - 1) / 0.01 == Approx(1.4236).margin(0.08));
  CHECK((mean_step(64, spread, 400) - 1) / 0.01 == Approx(2.3440).margin(0.1));
}

TEST_CASE("what is drawn for a rank does not change with other ranks, seeds change all") {
  std::vector<TimedInstruction> instructions(20);
  for (TimedInstruction& each : instructions) {
    each.occupation = Occupation::compute;
    each.duration = each.issue = {1'000'000};
  }
  Spread spread{0.02, 0.01, 0.03, 0.03, 5, {{1, 0.5}}};
  const auto few = rank_times(instructions, {}, spread, 2, 1);
  const auto many = rank_times(instructions, {}, spread, 16, 1);
  for (std::size_t item = 0; item < instructions.size(); ++item) {
    CHECK(few[0][item].duration == many[0][item].duration);
    CHECK(few[1][item].issue == many[1][item].issue);
    CHECK(few[0][item].issue == few[0][0].issue);  // a host is as fast all the time
    CHECK(few[1][item].duration.value > 1.8e6);
  }
  spread.seed = 6;
  CHECK(rank_times(instructions, {}, spread, 2, 1)[0][0].duration != few[0][0].duration);
  spread.seed = 5;
  CHECK(rank_times(instructions, {}, spread, 2, 2)[0][0].duration != few[0][0].duration);
}

TEST_CASE("the shipped figures of the spread are read, and options change them") {
  auto spread = read_spread();
  REQUIRE_OK(spread);
  CHECK(spread->gpus > 0);
  CHECK(spread->gpus < 0.1);
  REQUIRE_OK(set_spread(*spread, "kernels=1.5%", "--spread"));
  REQUIRE_OK(set_spread(*spread, "hosts=0", "--spread"));
  REQUIRE_OK(set_speed(*spread, "3=80%", 8, "--slow"));
  CHECK(spread->kernels == 0.015);
  CHECK(spread->speeds == std::map<int, double>{{3, 0.8}});
  CHECK_THAT(to_text(*spread), test::contains_text("kernels 1.5 %") && test::contains_text("rank 3 at 80 %"));
}

TEST_CASE("spreads and speeds that mean nothing are errors that say what to write") {
  Spread spread;
  const auto said = [](const Status& status) { return status ? std::string() : to_string(status.error()); };
  CHECK_THAT(said(set_spread(spread, "kernel=1%", "--spread")),
             test::contains_text("did you mean 'kernels'"));
  CHECK_THAT(said(set_spread(spread, "kernels", "--spread")), test::contains_text("NAME=PERCENT"));
  CHECK_THAT(said(set_spread(spread, "kernels=-1%", "--spread")), test::contains_text("0 to 100 %"));
  CHECK_THAT(said(set_spread(spread, "kernels=nan", "--spread")), test::contains_text("0 to 100 %"));
  CHECK_THAT(said(set_speed(spread, "8=80%", 8, "--slow")), test::contains_text("ranks are 0 to 7"));
  CHECK_THAT(said(set_speed(spread, "x=80%", 8, "--slow")), test::contains_text("no rank 'x'"));
  CHECK_THAT(said(set_speed(spread, "1=0%", 8, "--slow")), test::contains_text("1 % to 1000 %"));
  REQUIRE_OK(set_speed(spread, "1=90%", 8, "--slow"));
  CHECK_THAT(said(set_speed(spread, "1=80%", 8, "--slow")), test::contains_text("twice"));
}

PlannedScenario hybrid() {
  return test::small_scenario("parallel: {strategy: fsdp2, mesh: {replicate: 2, shard: 4}}", "clip_norm: 1.0",
                              "{gpu: H100-SXM, gpus_per_node: 4, nodes: 2}");
}

TEST_CASE("without a spread every rank is as the one that stands for all") {
  const PlannedScenario planned = hybrid();
  const Device device = test::device_of(planned);
  const Spread none;
  const auto one = simulate({planned, device});
  const auto all = simulate({planned, device, nullptr, &none});
  REQUIRE_OK(one);
  REQUIRE_OK(all);
  const StepTrace &alone = one->steps[0], &together = all->steps[0];
  REQUIRE(together.ranks.size() == 8);
  for (const RankTrace& rank : together.ranks) CHECK(rank.spans == alone.ranks[0].spans);
  CHECK(together.ranks[0].memory == alone.ranks[0].memory);
  REQUIRE_OK(check_trace(planned.plan.steady, plan_hash(planned.plan.steady), together));
}

TEST_CASE("a slow device slows all that meet it, and a step of a mesh as a whole") {
  const PlannedScenario planned = hybrid();
  const Device device = test::device_of(planned);
  Spread slow;
  slow.speeds[5] = 0.5;
  const auto one = simulate({planned, device});
  const auto all = simulate({planned, device, nullptr, &slow});
  REQUIRE_OK(one);
  REQUIRE_OK(all);
  const Nanoseconds alone = one->steps[0].ranks[0].duration;
  for (const RankTrace& rank : all->steps[0].ranks) CHECK(rank.duration > alone);
  CHECK_THAT(all->provenance.assumes.back(), test::contains_text("rank 5 at 50 %"));
}

TEST_CASE("more ranks than can be simulated one by one are refused") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp2}", "clip_norm: 1.0",
                           "{gpu: H100-SXM, gpus_per_node: 8, nodes: 100000, inter_node_gbps_per_gpu: 400}");
  const Device device = test::device_of(planned);
  const Spread spread;
  const auto run = simulate({planned, device, nullptr, &spread});
  REQUIRE_FALSE(run);
  CHECK_THAT(to_string(run.error()), test::contains_text("--ranks"));
  CHECK_THAT(run.error().hint, test::contains_text("at most"));
}

}  // namespace
}  // namespace shardlab
