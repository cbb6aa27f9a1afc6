#include "gui/view_model/timeline/compute_gaps.h"

#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

struct Shown {
  LoadedRun run;
  StepTrace step;
  TimelineTrack track;

  std::optional<ComputeGap> at(std::int64_t time) const {
    return gap_at(run, track, step, step.ranks.front(), Nanoseconds{time});
  }
};

Shown shown(StepTrace step) {
  LoadedRun run = loaded_run(1, RunKind::measured);
  TimelineTrack track = make_track("t", run.kind(), run.plan(), run.words(), step.ranks.front());
  return {std::move(run), std::move(step), std::move(track)};
}

std::vector<GapPart> parts_at(const Shown& all, std::int64_t time) {
  const auto gap = all.at(time);
  REQUIRE(gap);
  return gap->parts;
}

}  // namespace

TEST_CASE("compute waits for the host, then for communication") {
  const Shown all = shown(hand_made_step(0));
  const auto gap = all.at(50);
  REQUIRE(gap);
  CHECK(gap->interval == TimeInterval{{0}, {100}});
  CHECK(gap->next == InstructionId{1});
  CHECK(gap->parts == std::vector<GapPart>{{{{0}, {10}}, GapCause::host, {}, {}},
                                           {{{10}, {100}}, GapCause::communication, InstructionId{0}, {}}});
  CHECK(to_words(*gap, all.run) ==
        "compute stands still for 100 ns, before forward of layer 0\n"
        "10 ns  the host has not issued it yet\n"
        "90 ns  waits for all-gather of layer 0");
}

TEST_CASE("the host may stand still itself") {
  const Shown all = shown(hand_made_step(0));
  CHECK(parts_at(all, 420) ==
        std::vector<GapPart>{{{{400}, {450}}, GapCause::host_waits, InstructionId{3}, {}},
                             {{{450}, {460}}, GapCause::host, {}, {}}});
}

TEST_CASE("a collective waits for the rank that comes last") {
  StepTrace step = hand_made_step(0, 2);
  step.ranks[1].start_offset = Nanoseconds{60};  // its gather starts then
  const Shown all = shown(std::move(step));
  CHECK(parts_at(all, 50) ==
        std::vector<GapPart>{{{{0}, {10}}, GapCause::host, {}, {}},
                             {{{10}, {60}}, GapCause::other_rank, InstructionId{0}, 1},
                             {{{60}, {100}}, GapCause::communication, InstructionId{0}, {}}});
  CHECK_THAT(to_words(*all.at(50), all.run),
             contains_text("rank 1, which comes late to all-gather of layer 0"));
}

TEST_CASE("a device may start later than it could") {
  StepTrace step = hand_made_step(0);
  step.ranks[0].spans[1].start = Nanoseconds{130};
  const Shown all = shown(std::move(step));
  CHECK(parts_at(all, 50).back() == GapPart{{{100}, {130}}, GapCause::start, {}, {}});
}

TEST_CASE("where it computes there is no gap, and none outside the step") {
  const Shown all = shown(hand_made_step(0));
  for (const std::int64_t time : {150, 300, 470, 505, -5, 600}) {
    INFO(time);
    CHECK_FALSE(all.at(time));
  }
}

TEST_CASE("the parts of every gap of a real step fill it") {
  const RealRuns runs = real_runs();
  const LoadedRun& run = *runs.predicted;
  const StepTrace& step = *typical_step(run);
  const TimelineTrack track = make_track("t", run.kind(), run.plan(), run.words(), step.ranks.front());
  int gaps = 0;
  for (const LaneSpan& span : track.lanes.front().spans) {
    const auto gap = gap_at(run, track, step, step.ranks.front(), span.begin - Nanoseconds{1});
    if (!gap) continue;
    ++gaps;
    Nanoseconds at = gap->interval.begin;
    for (const GapPart& part : gap->parts) {
      CHECK(part.interval.begin == at);
      at = part.interval.end;
    }
    CHECK(at == gap->interval.end);
  }
  CHECK(gaps > 0);
}
