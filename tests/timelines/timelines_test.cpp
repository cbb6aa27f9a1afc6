// Every timeline file: step times and spans as stated, to the nanosecond.
#include <filesystem>

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
