#include "gui/view_model/player/step_player.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

const ShownBuffer* find(const PlayerFrame& frame, std::uint32_t buffer) {
  for (const ShownBuffer& each : frame.buffers) {
    if (each.buffer == BufferId{buffer}) return &each;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a gather fills its buffer as it plays, and what it reads is marked") {
  const StepPlan plan = hand_made_plan();
  StepPlayer player(plan);
  player.set_speed(1);
  player.play();
  player.advance(0.25);
  const PlayerFrame frame = frame_of(player);
  REQUIRE(frame.instruction == InstructionId{0});
  REQUIRE(frame.buffers.size() == 2);
  CHECK(find(frame, 1)->motion == BufferMotion::filling);
  CHECK(find(frame, 1)->fill == Approx(0.25));
  CHECK(find(frame, 0)->motion == BufferMotion::read);
  CHECK(frame.live == Bytes{120});
}

TEST_CASE("Backward empties what it frees and is gone when it is done") {
  const StepPlan plan = hand_made_plan();
  StepPlayer player(plan);
  player.set_speed(1);
  player.play();
  player.advance(2.75);
  PlayerFrame frame = frame_of(player);
  REQUIRE(frame.instruction == InstructionId{2});
  REQUIRE(find(frame, 1));
  CHECK(find(frame, 1)->motion == BufferMotion::emptying);
  CHECK(find(frame, 1)->fill == Approx(0.25));
  CHECK(find(frame, 2)->motion == BufferMotion::filling);
  player.seek(2);
  frame = frame_of(player);
  CHECK_FALSE(find(frame, 1));
  CHECK(frame.live == Bytes{80});
  CHECK(frame.highest_so_far == Bytes{120});
}

TEST_CASE("stepping shows every instruction once, in order, both ways") {
  const StepPlan plan = hand_made_plan();
  StepPlayer player(plan);
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    player.step_forward();
    CHECK(player.position() == i);
    CHECK(player.progress() == 1);
  }
  CHECK(player.at_end());
  player.step_forward();
  CHECK(player.position() == 6);
  player.step_back();
  CHECK(player.position() == 5);
  for (int i = 0; i < 10; ++i) player.step_back();
  CHECK(player.position() == 0);
}

TEST_CASE("playing stops at the end, and playing again begins anew") {
  const StepPlan plan = hand_made_plan();
  StepPlayer player(plan);
  player.advance(10);
  CHECK(player.position() == 0);  // it does not play yet
  player.play();
  player.advance(1e9);
  CHECK(player.at_end());
  CHECK_FALSE(player.playing());
  player.play();
  CHECK(player.position() == 0);
  CHECK(player.playing());
  player.pause();
  player.advance(1);
  CHECK(player.position() == 0);
  player.seek(99);
  CHECK(player.position() == 6);
  player.seek(2, 0.25);
  CHECK(player.position() == 2);
  CHECK(player.progress() == 0.25);
  player.seek(2, std::nan(""));
  CHECK(player.progress() == 1);
}

TEST_CASE("the speed stays within its bounds") {
  const StepPlan plan = hand_made_plan();
  StepPlayer player(plan);
  player.set_speed(0);
  CHECK(player.speed() == StepPlayer::k_slowest);
  player.set_speed(1e9);
  CHECK(player.speed() == StepPlayer::k_fastest);
  player.set_speed(std::nan(""));
  CHECK(player.speed() == StepPlayer::k_fastest);
}

TEST_CASE("the bytes shown at rest are the plan's live bytes, and an empty plan shows nothing") {
  const StepPlan plan = hand_made_plan();
  StepPlayer player(plan);
  const std::vector<Bytes> live = live_bytes_after(plan);
  for (std::size_t i = 0; i < live.size(); ++i) {
    player.seek(i);
    Bytes sum;
    for (const ShownBuffer& buffer : frame_of(player).buffers) sum += buffer.bytes;
    CHECK(sum == live[i]);
  }
  const StepPlan nothing;
  StepPlayer idle(nothing);
  idle.play();
  idle.advance(1);
  idle.step_forward();
  CHECK_FALSE(frame_of(idle).instruction);
  CHECK_FALSE(idle.playing());
}
