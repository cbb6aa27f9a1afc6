#include "gui/view_model/step_player.h"

#include <algorithm>
#include <cmath>

namespace shardlab::view {

void StepPlayer::play() {
  if (plan_->instructions.empty()) return;
  if (at_end()) {
    position_ = 0;
    progress_ = 0;
  }
  playing_ = true;
}

void StepPlayer::set_speed(double instructions_per_second) {
  if (std::isnan(instructions_per_second)) return;
  speed_ = std::clamp(instructions_per_second, k_slowest, k_fastest);
}

void StepPlayer::seek(std::size_t position) {
  playing_ = false;
  if (plan_->instructions.empty()) return;
  position_ = std::min(position, plan_->instructions.size() - 1);
  progress_ = 1;
}

void StepPlayer::step_forward() {
  // The first step from the very beginning shows the first instruction.
  seek(progress_ < 1 ? position_ : position_ + 1);
}

void StepPlayer::step_back() {
  seek(position_ > 0 ? position_ - 1 : 0);
}

void StepPlayer::advance(double seconds) {
  if (!playing_ || !(seconds > 0)) return;
  const auto count = static_cast<double>(plan_->instructions.size());
  const double reached = std::min(static_cast<double>(position_) + progress_ + seconds * speed_, count);
  position_ = std::min(static_cast<std::size_t>(reached), plan_->instructions.size() - 1);
  progress_ = std::min(reached - static_cast<double>(position_), 1.0);
  if (at_end()) playing_ = false;
}

namespace {

bool holds(const std::vector<BufferId>& list, BufferId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

ShownBuffer shown(const StepPlan& plan, const Instruction& instruction, BufferId id, double progress) {
  ShownBuffer result{id, plan.buffer(id).bytes(), 1, BufferMotion::rest};
  if (holds(instruction.frees, id)) {
    result.motion = BufferMotion::emptying;
    result.fill = 1 - progress;
  } else if (holds(instruction.allocates, id)) {
    result.motion = BufferMotion::filling;
    result.fill = progress;
  } else if (holds(instruction.writes, id)) {
    result.motion = BufferMotion::written;
  } else if (holds(instruction.reads, id)) {
    result.motion = BufferMotion::read;
  }
  return result;
}

}  // namespace

PlayerFrame frame_of(const StepPlayer& player) {
  const StepPlan& plan = player.plan();
  PlayerFrame frame;
  if (plan.instructions.empty()) return frame;
  const auto at = static_cast<std::int64_t>(player.position());
  frame.instruction = make_id<InstructionId>(player.position());
  const Instruction& instruction = plan.instruction(*frame.instruction);
  for (const BufferLife& life : player.lives()) {
    // One that this instruction frees is shown while it empties.
    const bool leaving = life.end == at && holds(instruction.frees, life.buffer) && player.progress() < 1;
    if (life.alive_after(at) || leaving)
      frame.buffers.push_back(shown(plan, instruction, life.buffer, player.progress()));
  }
  std::sort(frame.buffers.begin(), frame.buffers.end(),
            [](const ShownBuffer& a, const ShownBuffer& b) { return a.buffer < b.buffer; });
  const std::vector<Bytes> live = live_bytes_after(plan);
  frame.live = live[player.position()];
  frame.highest_so_far =
      std::max(carried_bytes(plan), *std::max_element(live.begin(), live.begin() + at + 1));
  return frame;
}

}  // namespace shardlab::view
