// Ranks that wait for each other: as one rank alone where all are alike, and to the nanosecond where not.
#include <filesystem>
#include <random>

#include "simulator/core/rank_timelines.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/timelines/random_step.h"
#include "tests/timelines/timeline_file.h"

namespace shardlab::test {
namespace {

using Times = std::vector<std::vector<InstructionTimes>>;

Times alike(const std::vector<TimedInstruction>& instructions, std::size_t ranks) {
  std::vector<InstructionTimes> own;
  for (const TimedInstruction& each : instructions) own.push_back({each.duration, each.launch, each.issue});
  return Times(ranks, own);
}

// Neighbours meet: `size` of them each.
GroupMeetings neighbours(int ranks, int size) {
  GroupMeetings group;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % size == 0) group.members.emplace_back();
    group.members.back().push_back(rank);
    group.of_rank.push_back(static_cast<std::uint32_t>(group.members.size() - 1));
  }
  return group;
}

std::vector<GroupMeetings> groups_of(std::uint32_t groups, std::vector<int> sizes) {
  std::vector<GroupMeetings> all;
  for (std::uint32_t group = 0; group < groups; ++group)
    all.push_back(neighbours(4, sizes[group % sizes.size()]));
  return all;
}

void check_alike(const TimelineOptions& options, const std::vector<TimedInstruction>& instructions) {
  const auto alone = run_timeline(options, instructions);
  REQUIRE_OK(alone);
  for (const std::vector<int>& sizes : {std::vector{4}, {2}, {2, 4}, {1, 2}}) {
    const auto together =
        run_rank_timelines(options, instructions, alike(instructions, 4), groups_of(options.groups, sizes));
    REQUIRE_OK(together);
    for (const std::vector<Span>& rank : *together) CHECK(rank == *alone);
  }
}

TEST_CASE("ranks that are alike are as one of them alone: every timeline file") {
  for (const auto& entry : std::filesystem::directory_iterator(data_file("timelines"))) {
    for (const TimelineCase& timeline : read_timeline_file(entry.path())) {
      INFO(entry.path().filename().string() + ", case " + timeline.name);
      check_alike(timeline.options, timeline.instructions);
    }
  }
}

TEST_CASE("ranks that are alike are as one of them alone: steps at random") {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    TimelineOptions options{HostBehaviour(random() % 2), 4, 4, 3, {}};
    if (random() % 2 == 0) options.contention = {contention_rate(0.5), contention_rate(0.25)};
    const RandomStep step = random_step(random, options);
    INFO("round " << round);
    check_alike(options, step.instructions);
  }
}

TimedInstruction work(Occupation occupation, std::uint32_t stream, std::int64_t duration,
                      std::span<const InstructionId> waits) {
  TimedInstruction instruction;
  instruction.occupation = occupation;
  instruction.stream = stream;
  instruction.duration = {duration};
  instruction.waits = waits;
  return instruction;
}

TEST_CASE("a collective works from when the last has come, and all compute on from its end") {
  const std::vector<InstructionId> first{InstructionId{0}}, second{InstructionId{1}};
  const std::vector<TimedInstruction> instructions{work(Occupation::compute, 0, 100, {}),
                                                   work(Occupation::collective, 1, 50, first),
                                                   work(Occupation::compute, 0, 100, second)};
  const TimelineOptions options{HostBehaviour::asynchronous, 2, 1, 0, {}};
  Times times = alike(instructions, 4);
  times[2][0].duration = {130};  // waited for by rank 3 alone
  times[1][1].duration = {70};   // the slowest ring of ranks 0 and 1
  const auto spans = run_rank_timelines(options, instructions, times, std::vector{neighbours(4, 2)});
  REQUIRE_OK(spans);
  const auto at = [&](std::size_t rank, std::size_t item) {
    const Span& span = (*spans)[rank][item];
    return std::pair{span.start.value, span.end.value};
  };
  CHECK(at(0, 1) == std::pair<std::int64_t, std::int64_t>{100, 170});
  CHECK(at(1, 1) == std::pair<std::int64_t, std::int64_t>{100, 170});
  CHECK(at(2, 1) == std::pair<std::int64_t, std::int64_t>{130, 180});
  CHECK(at(3, 1) == std::pair<std::int64_t, std::int64_t>{100, 180});
  CHECK(at(0, 2).second == 270);
  CHECK(at(3, 2) == std::pair<std::int64_t, std::int64_t>{180, 280});
}

TEST_CASE("a collective that waits holds its multiprocessors and moves nothing") {
  const std::vector<ResourceUse> of_compute{{0, k_full_share, true}, {1, k_full_share / 2, false}};
  const std::vector<ResourceUse> of_ring{{0, k_full_share / 4, true}, {1, k_full_share, false}};
  std::vector<TimedInstruction> instructions{work(Occupation::collective, 1, 100, {}),
                                             work(Occupation::compute, 0, 300, {})};
  instructions[0].uses = of_ring;
  instructions[1].uses = of_compute;
  Times times = alike(instructions, 2);
  times[1][0].launch = times[1][0].issue = {400};  // rank 1 is late
  const TimelineOptions options{HostBehaviour::asynchronous, 2, 1, 2, {}};
  const auto spans = run_rank_timelines(options, instructions, times, std::vector{neighbours(2, 2)});
  REQUIRE_OK(spans);
  // Rank 0 computes at three quarters of its speed: 300 ns take 400, of the memory's rate it gets all it
  // wants.
  CHECK((*spans)[0][1].end.value == 400);
  CHECK((*spans)[0][0].end == (*spans)[1][0].end);
}

TEST_CASE(
    "ranks at random speeds: collectives end together, nothing is early, other replicas change nothing") {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    INFO("round " << round);
    TimelineOptions options{HostBehaviour(random() % 2), 4, 4, 3, {}};
    const RandomStep step = random_step(random, options);
    Times times = alike(step.instructions, 4);
    for (auto& own : times) {
      for (InstructionTimes& each : own)
        each.duration = {each.duration.value * (50 + std::int64_t(random() % 100)) / 100};
    }
    const auto meetings = groups_of(options.groups, {2});
    const auto spans = run_rank_timelines(options, step.instructions, times, meetings);
    REQUIRE_OK(spans);
    for (std::size_t item = 0; item < step.instructions.size(); ++item) {
      const TimedInstruction& instruction = step.instructions[item];
      for (std::size_t rank = 0; rank < 4; ++rank) {
        const Span& span = (*spans)[rank][item];
        CHECK(span.start >= span.issue);
        const bool collective = instruction.occupation == Occupation::collective;
        if (collective || instruction.occupation == Occupation::compute)
          CHECK(span.end.value >= span.start.value + times[rank][item].duration.value);
        if (!collective) continue;
        const Span& other = (*spans)[rank ^ 1][item];
        CHECK(span.end == other.end);
        CHECK(span.end.value >= std::max(span.start, other.start).value + times[rank][item].duration.value);
      }
    }
    for (auto& own : {&times[2], &times[3]}) {
      for (InstructionTimes& each : *own) each.duration = each.duration * 3;
    }
    const auto others = run_rank_timelines(options, step.instructions, times, meetings);
    REQUIRE_OK(others);
    CHECK((*others)[0] == (*spans)[0]);
    CHECK((*others)[1] == (*spans)[1]);
  }
}

TEST_CASE("times that are not those of the ranks are an error") {
  const std::vector<TimedInstruction> instructions(1);
  const auto spans = run_rank_timelines({}, instructions, Times(2), {});
  REQUIRE_FALSE(spans);
  CHECK(spans.error().kind == ErrorKind::internal);
}

}  // namespace
}  // namespace shardlab::test
