// Every timeline file: step times and spans as stated, to the nanosecond.
#include <filesystem>
#include <random>

#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/timelines/random_step.h"
#include "tests/timelines/timeline_file.h"

namespace shardlab::test {
namespace {

std::vector<std::filesystem::path> timeline_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(data_file("timelines")))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void check(const TimelineCase& timeline) {
  const auto spans = run_timeline(timeline.options, timeline.instructions);
  REQUIRE_OK(spans);
  CHECK(timeline_duration(*spans).value == timeline.step);
  for (std::size_t i = 0; i < spans->size(); ++i) {
    const ExpectedSpan& expected = timeline.expected[i];
    if (!expected.span) continue;
    INFO(expected.name);
    CHECK((*spans)[i].start.value == expected.span->first);
    CHECK((*spans)[i].end.value == expected.span->second);
  }
}

TEST_CASE("timeline files give the step times and spans they state") {
  const auto files = timeline_files();
  REQUIRE(files.size() >= 19);
  for (const auto& file : files) {
    for (const TimelineCase& timeline : read_timeline_file(file)) {
      INFO(file.filename().string() + ", case " + timeline.name);
      check(timeline);
    }
  }
}

TEST_CASE("a timeline is the same every time") {
  const auto cases = read_timeline_file(data_file("timelines/fsdp1_full_shard_pre.timeline"));
  const auto once = run_timeline(cases[0].options, cases[0].instructions);
  const auto again = run_timeline(cases[0].options, cases[0].instructions);
  REQUIRE_OK(once);
  REQUIRE_OK(again);
  CHECK(*once == *again);
}

TEST_CASE("simultaneous events happen in an order that the numbers of queues do not decide") {
  constexpr std::uint32_t queues = 4;
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    TimelineOptions options{HostBehaviour(random() % 2), queues, queues, 2, {}};
    if (random() % 2 == 0) options.contention = {contention_rate(0.5), contention_rate(0.25)};
    RandomStep step = random_step(random, options);
    const auto spans = run_timeline(options, step.instructions);
    for (TimedInstruction& instruction : step.instructions) {
      instruction.stream = queues - 1 - instruction.stream;
      instruction.group = (instruction.group + 1) % queues;
    }
    const auto renumbered = run_timeline(options, step.instructions);
    REQUIRE_OK(spans);
    REQUIRE_OK(renumbered);
    INFO("round " << round);
    CHECK(*spans == *renumbered);
  }
}

TEST_CASE("a wait on a later instruction is an error") {
  const std::vector<InstructionId> later{InstructionId{1}};
  std::vector<TimedInstruction> instructions(2);
  instructions[0].waits = later;
  const auto spans = run_timeline({}, instructions);
  REQUIRE_FALSE(spans);
  CHECK(spans.error().kind == ErrorKind::internal);
}

}  // namespace
}  // namespace shardlab::test
