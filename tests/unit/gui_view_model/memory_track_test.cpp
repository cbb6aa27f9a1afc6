#include "gui/view_model/memory/memory_track.h"

#include <algorithm>

#include "gui/view_model/memory/buffer_lives.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

MemoryTrack hand_made_memory_track(MemoryClock clock = MemoryClock::host) {
  RankTrace rank = hand_made_rank();
  rank.memory = hand_made_memory();
  return make_memory_track("hand-made", RunKind::measured, hand_made_plan(), rank, Bytes{1000}, clock);
}

StackedMemory stacked_over(const MemoryTrack& track, const TimeScale& scale) {
  StackedMemory stacked;
  stack_memory(track, scale, 1, stacked);
  return stacked;
}

double highest(const StackedMemory& stacked) {
  double top = 0;
  for (const double each : stacked.tops.back()) top = std::max(top, each);
  return top;
}

}  // namespace

TEST_CASE("memory is stacked by the classes that hold anything, the long-lived at the bottom") {
  const MemoryTrack track = hand_made_memory_track();
  CHECK(track.classes == std::vector{BufferClass::parameter_shard, BufferClass::gradient_shard,
                                     BufferClass::gathered_parameters, BufferClass::workspace});
  REQUIRE(track.peak);
  CHECK(track.samples[*track.peak].instruction == InstructionId{2});
  CHECK(track.capacity == Bytes{1000});
}

TEST_CASE("the peak survives every zoom, and the stack adds up to it") {
  const MemoryTrack track = hand_made_memory_track();
  for (const double width : {1.0, 3.0, 50.0, 510.0}) {
    const StackedMemory stacked = stacked_over(track, {0, 510, width});
    CHECK(highest(stacked) == 200);
    for (std::size_t i = 1; i < stacked.tops.size(); ++i) {
      for (std::size_t column = 0; column < stacked.times.size(); ++column)
        CHECK(stacked.tops[i - 1][column] <= stacked.tops[i][column]);
    }
  }
  // A part of the step that does not hold the peak does not show it.
  CHECK(highest(stacked_over(track, {460, 510, 50})) < 200);
}

TEST_CASE("columns lie inside the step and show the sample that was issued last") {
  const MemoryTrack track = hand_made_memory_track();
  const StackedMemory stacked = stacked_over(track, {-100, 1000, 1100});
  CHECK(stacked.times.front() == static_cast<double>(track.times.front().value));
  CHECK(stacked.times.back() <= 510);
  CHECK(stacked.samples.back() == 6);
  CHECK(sample_at(track, 1e9) == 6U);
  CHECK_FALSE(sample_at(track, -1));
}

TEST_CASE("on the device's clock a sample stands where compute gets to it, and peaks are the same") {
  const MemoryTrack host = hand_made_memory_track(), device = hand_made_memory_track(MemoryClock::device);
  const RankTrace rank = hand_made_rank();
  CHECK(device.peaks == host.peaks);
  CHECK(host.times[1] == rank.spans[1].issue);
  CHECK(device.times[1] == rank.spans[1].start);  // Forward waited for its gather
  CHECK(device.times[2] == rank.spans[2].start);
  CHECK(device.times[3] == rank.spans[2].end);  // the reduce-scatter is on another stream
  CHECK(device.times[4] == rank.spans[2].end);  // the host's wait occupies no device
  CHECK(std::is_sorted(device.times.begin(), device.times.end()));
}

TEST_CASE("a run without memory gives an empty plot") {
  const MemoryTrack track =
      make_memory_track("", RunKind::measured, hand_made_plan(), hand_made_rank(), {}, MemoryClock::host);
  CHECK(track.samples.empty());
  CHECK_FALSE(track.peak);
  CHECK(stacked_over(track, {0, 510, 100}).times.empty());
  CHECK_FALSE(sample_at(track, 100));
}

TEST_CASE("what other spaces hold is kept beside the device's, and resampled without losing the highest") {
  RankTrace rank = hand_made_rank();
  rank.memory = hand_made_memory();
  const auto pinned = static_cast<std::size_t>(MemorySpace::pinned_host);
  for (std::size_t i = 0; i < rank.memory.size(); ++i)
    rank.memory[i].peak_elsewhere[pinned] = {i == 3 ? 500 : 100};
  const MemoryTrack track =
      make_memory_track("", RunKind::measured, hand_made_plan(), rank, {}, MemoryClock::host);
  CHECK(track.others == std::vector{MemorySpace::pinned_host});
  CHECK(highest_in(track, MemorySpace::pinned_host) == Bytes{500});
  const StackedMemory stacked = stacked_over(track, {0, 510, 3});
  REQUIRE(stacked.others.size() == 1);
  REQUIRE(stacked.others[0].size() == stacked.times.size());
  CHECK(*std::max_element(stacked.others[0].begin(), stacked.others[0].end()) == 500);
  CHECK(make_memory_track("", RunKind::measured, hand_made_plan(), hand_made_rank(), {}, MemoryClock::host)
            .others.empty());
}

TEST_CASE("a buffer lives from what makes it to what frees it") {
  CHECK(buffer_lives(hand_made_plan()) == std::vector<BufferLife>{{{0}, -1, 7}, {{1}, 0, 2}, {{2}, 2, 6}});
}

TEST_CASE("the lives of buffers add up to the plan's live bytes after every instruction") {
  const StepPlan plan = hand_made_plan();
  const std::vector<BufferLife> lives = buffer_lives(plan);
  const std::vector<Bytes> expected = live_bytes_after(plan);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Bytes sum;
    for (const BufferLife& life : lives) {
      if (life.alive_after(static_cast<std::int64_t>(i))) sum += plan.buffer(life.buffer).bytes();
    }
    CHECK(sum == expected[i]);
  }
}
