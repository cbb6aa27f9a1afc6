#include "gui/view_model/timeline/timeline_track.h"

#include "gui/view_model/timeline/lane_drawing.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

TimelineTrack hand_made_track() {
  const StepPlan plan = hand_made_plan();
  return make_track("hand-made", RunKind::measured, plan, PlanWords(plan), hand_made_rank());
}

Lane lane_of(std::vector<LaneSpan> spans) {
  Lane lane{"compute", false, std::move(spans), {}, false};
  Nanoseconds reach;
  for (const LaneSpan& span : lane.spans) lane.reaches.push_back(reach = std::max(reach, span.end));
  return lane;
}

LaneSpan span_of(std::int64_t begin, std::int64_t end, std::uint32_t id, std::uint16_t colour = 0) {
  return {{begin}, {end}, {id}, colour, false};
}

std::vector<DrawnSpan> drawn_spans(const Lane& lane, const TimeScale& scale) {
  std::vector<DrawnSpan> drawn;
  draw_lane(lane, scale, drawn);
  return drawn;
}

}  // namespace

TEST_CASE("a lane for each stream that has work, then the host's work and its waits") {
  const TimelineTrack track = hand_made_track();
  REQUIRE(track.lanes.size() == 5);
  CHECK(track.lanes[0].name == "compute");
  CHECK(track.lanes[1].name == "all_gather");
  CHECK(track.lanes[2].name == "reduce_scatter");
  CHECK(track.lanes[4].host);
  CHECK(track.lanes[0].spans.size() == 4);     // Forward, Backward, OptimizerStep, ZeroGradients
  CHECK(track.lanes[0].spans[0].colour == 2);  // unit 1
  CHECK(track.lanes[0].spans[2].colour == 0);
  REQUIRE(track.lanes[4].spans.size() == 1);
  CHECK(track.lanes[4].spans[0].end - track.lanes[4].spans[0].begin > Nanoseconds{0});
  CHECK(track.end == Nanoseconds{510});
  CHECK(track.exposed == std::vector<TimeInterval>{{{10}, {100}}, {{400}, {450}}});
}

TEST_CASE(
    "a host that runs ahead has a lane: from what it issues to what it issues next, its waits left out") {
  const TimelineTrack track = hand_made_track();
  const Lane& host = track.lanes.at(3);
  CHECK(host.name == "host issues");
  REQUIRE(host.issues);
  REQUIRE(host.spans.size() == 6);
  CHECK(host.spans[1].instruction == InstructionId{1});
  CHECK(host.spans[1].begin == Nanoseconds{10});
  CHECK(host.spans[1].end == Nanoseconds{20});
  CHECK(host.spans[4].begin == Nanoseconds{450});
  CHECK(host.spans[4].end == Nanoseconds{460});
  // Where an instruction runs is its place, not where it is issued.
  CHECK(track.place_of[1]->lane == 0);
}

TEST_CASE("a host that computes itself has no lane beside what it computes") {
  const StepPlan plan = hand_made_plan();
  RankTrace rank = hand_made_rank();
  for (Span& span : rank.spans) span.issue = span.start;
  for (const Lane& lane : make_track("", RunKind::measured, plan, PlanWords(plan), rank).lanes)
    CHECK_FALSE(lane.issues);
}

TEST_CASE("the selected instruction's waits are arrows, and the decisive one is the last to end") {
  StepPlan plan = hand_made_plan();
  plan.instructions[5].waits = {{0}, {3}};
  const TimelineTrack track = make_track("", RunKind::measured, plan, PlanWords(plan), hand_made_rank());
  const std::vector<WaitArrow> arrows = wait_arrows(plan, track, InstructionId{5});
  REQUIRE(arrows.size() == 2);
  CHECK(arrows[0].from == InstructionId{0});
  CHECK_FALSE(arrows[0].decisive);
  CHECK(arrows[1].from == InstructionId{3});
  CHECK(arrows[1].decisive);
  CHECK(arrows[1].from_time <= arrows[1].to_time);

  // The reduce-scatter waited for Backward, and HostWait and OptimizerStep waited for it.
  const std::vector<WaitArrow> both = wait_arrows(plan, track, InstructionId{3});
  REQUIRE(both.size() == 3);
  CHECK(both[0].to == InstructionId{3});
  CHECK(both[1].to == InstructionId{4});
  CHECK(both[2].to == InstructionId{5});
  CHECK(wait_arrows(plan, track, InstructionId{99}).empty());
}

TEST_CASE("a hit is the span under the pointer, the shortest of several, or a near one") {
  const Lane lane = lane_of({span_of(0, 100, 1), span_of(10, 20, 2), span_of(200, 300, 3)});
  CHECK(lane.spans[*hit_span(lane, 50, 0)].instruction == InstructionId{1});
  CHECK(lane.spans[*hit_span(lane, 15, 0)].instruction == InstructionId{2});
  CHECK_FALSE(hit_span(lane, 150, 10));
  CHECK(lane.spans[*hit_span(lane, 195, 10)].instruction == InstructionId{3});
  CHECK(lane.spans[*hit_span(lane, 105, 10)].instruction == InstructionId{1});
  CHECK_FALSE(hit_span(lane_of({}), 0, 10));
}

TEST_CASE("spans of a pixel and more are drawn one by one, cut to the visible part") {
  const Lane lane = lane_of({span_of(0, 100, 1, 1), span_of(100, 200, 2, 2), span_of(900, 1000, 3, 3)});
  const auto drawn = drawn_spans(lane, {50, 150, 100});
  REQUIRE(drawn.size() == 2);
  CHECK(drawn[0] == DrawnSpan{0, 50, {1}, 1, 1, false});
  CHECK(drawn[1] == DrawnSpan{50, 100, {2}, 1, 2, false});
}

TEST_CASE("spans below a pixel are merged, coloured by the longest, and never vanish") {
  // 1000 spans on 100 pixels: ten in each; the third of ten is the longest.
  std::vector<LaneSpan> spans;
  for (std::uint32_t i = 0; i < 1000; ++i)
    spans.push_back(span_of(i * 10, i * 10 + (i % 10 == 2 ? 9 : 5), i, static_cast<std::uint16_t>(i % 10)));
  const auto drawn = drawn_spans(lane_of(spans), {0, 10000, 100});
  REQUIRE(drawn.size() == 100);
  CHECK(drawn[0].count == 10);
  CHECK(drawn[0].colour == 2);
  CHECK(drawn[0].instruction == InstructionId{2});
  std::uint32_t sum = 0;
  for (const DrawnSpan& span : drawn) {
    sum += span.count;
    CHECK(span.x1 - span.x0 >= 0.999F);
  }
  CHECK(sum == 1000);
  // One span of no length on a wide axis is still a pixel.
  CHECK(drawn_spans(lane_of({span_of(500, 500, 1)}), {0, 10000, 100}).size() == 1);
}

TEST_CASE("a lane never gives more rectangles than twice its pixels, at any zoom") {
  std::vector<LaneSpan> spans;
  for (std::uint32_t i = 0; i < 100000; ++i) {
    const std::int64_t begin = i * 100LL + (i * 7919LL) % 50;
    spans.push_back(span_of(begin, begin + (i % 17 == 0 ? 90 : 3), i));
  }
  const Lane lane = lane_of(spans);
  for (const double to : {1e7, 1e6, 1e5, 1e4, 1e3}) CHECK(drawn_spans(lane, {0, to, 800}).size() <= 1600);
}
