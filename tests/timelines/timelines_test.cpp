// Every timeline file: step times and spans as stated, to the nanosecond.
#include <filesystem>
#include <random>

#include "tests/catch.h"
#include "tests/paths.h"
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
  REQUIRE(files.size() >= 17);
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

// Instructions at random, of few different durations, so that much of it happens at the same moments.
struct RandomStep {
  std::vector<std::vector<InstructionId>> waits;
  std::vector<TimedInstruction> instructions;
};

RandomStep random_step(std::mt19937& random, const TimelineOptions& options) {
  const auto below = [&](std::size_t end) { return static_cast<std::uint32_t>(random() % end); };
  RandomStep step;
  for (std::uint32_t i = 0; i < 60; ++i) {
    TimedInstruction instruction;
    instruction.occupation = static_cast<Occupation>(below(4));
    instruction.stream = below(options.streams);
    instruction.group = below(options.groups);
    const bool works =
        instruction.occupation == Occupation::compute || instruction.occupation == Occupation::collective;
    instruction.duration = {works ? 4 * std::int64_t{below(3)} : 0};
    instruction.launch = {std::int64_t{below(2)}};
    instruction.issue = {instruction.launch.value + below(2)};
    std::vector<InstructionId> waits;
    for (std::uint32_t wait = below(3); i > 0 && wait > 0; --wait) waits.push_back(InstructionId{below(i)});
    step.waits.push_back(std::move(waits));
    step.instructions.push_back(instruction);
  }
  for (std::size_t i = 0; i < step.waits.size(); ++i) step.instructions[i].waits = step.waits[i];
  return step;
}

TEST_CASE("simultaneous events happen in an order that the numbers of queues do not decide") {
  constexpr std::uint32_t queues = 4;
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    TimelineOptions options{HostBehaviour(random() % 2), queues, queues, {}};
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
