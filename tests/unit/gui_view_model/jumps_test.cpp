#include "gui/view_model/timeline/jumps.h"

#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

TimelineTrack track_of(const LoadedRun& run) {
  return make_track("t", run.kind(), run.plan(), run.words(), *rank_of(*typical_step(run), 0));
}

}  // namespace

TEST_CASE("a layer is where compute is at it: forward and backward") {
  const LoadedRun run = loaded_run(1, RunKind::measured);
  const TimelineTrack track = track_of(run);
  CHECK(layers_of(run) == 1);
  const auto places = jump_places(run, track, {JumpKind::layer, 0});
  CHECK(places == std::vector<TimeInterval>{{{100}, {400}}});  // its backward follows its forward at once
  CHECK(jump_places(run, track, {JumpKind::layer, 5}).empty());
  CHECK(jump_places(run, track, {JumpKind::micro_batch, 0}) ==
        std::vector<TimeInterval>{{{100}, {200}}, {{200}, {400}}});
  CHECK(jump_places(run, track, {JumpKind::exposed, 0}) == track.exposed);
}

TEST_CASE("in a real step every layer has a place for each pass of each micro-batch") {
  const RealRuns runs = real_runs("scenarios/first/tiny-llama-accumulation.yaml");
  const TimelineTrack track = track_of(*runs.predicted);
  const int layers = layers_of(*runs.predicted), micro_batches = runs.planned.plan.steady.micro_batches;
  REQUIRE(layers > 1);
  const auto first = jump_places(*runs.predicted, track, {JumpKind::layer, 0});
  CHECK(first.size() == static_cast<std::size_t>(2 * micro_batches));
  for (std::size_t i = 1; i < first.size(); ++i) CHECK(first[i - 1].end <= first[i].begin);
}

TEST_CASE("exposed places that are too short to be worth a look are left out") {
  const LoadedRun run = loaded_run(1, RunKind::measured);
  TimelineTrack track = track_of(run);
  track.exposed = {{{0}, {1000}}, {{2000}, {2009}}, {{3000}, {3010}}};
  CHECK(jump_places(run, track, {JumpKind::exposed, 0}) ==
        std::vector<TimeInterval>{{{0}, {1000}}, {{3000}, {3010}}});
}

TEST_CASE("from place to place, and round again") {
  const std::vector<TimeInterval> places = {{{10}, {20}}, {{30}, {40}}, {{50}, {60}}};
  CHECK(next_place(places, Nanoseconds{-1})->begin == Nanoseconds{10});
  CHECK(next_place(places, Nanoseconds{10})->begin == Nanoseconds{30});
  CHECK(next_place(places, Nanoseconds{50})->begin == Nanoseconds{10});
  CHECK(previous_place(places, Nanoseconds{30})->begin == Nanoseconds{10});
  CHECK(previous_place(places, Nanoseconds{10})->begin == Nanoseconds{50});
  CHECK_FALSE(next_place({}, Nanoseconds{0}));
  CHECK_FALSE(previous_place({}, Nanoseconds{0}));
}
