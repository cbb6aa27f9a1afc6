#include "gui/view_model/player/step_player.h"

#include <algorithm>
#include <cmath>

namespace shardlab::view {

StepPlayer::StepPlayer(const StepPlan& plan)
    : plan_(&plan), lives_(buffer_lives(plan)), live_(live_bytes_after(plan)) {
  Bytes most = carried_bytes(plan);
  for (const Bytes bytes : live_) highest_.push_back(most = std::max(most, bytes));
}

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

void StepPlayer::seek(std::size_t position, double progress) {
  playing_ = false;
  if (plan_->instructions.empty()) return;
  position_ = std::min(position, plan_->instructions.size() - 1);
  progress_ = std::isnan(progress) ? 1 : std::clamp(progress, 0.0, 1.0);
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

bool is_among(BufferId id, const std::vector<BufferId>& buffers) {
  return std::find(buffers.begin(), buffers.end(), id) != buffers.end();
}

namespace {

ShownBuffer shown(const StepPlan& plan, const Instruction& instruction, BufferId id, double progress) {
  ShownBuffer result{id, plan.buffer(id).bytes(), 1, BufferMotion::rest};
  if (is_among(id, instruction.frees)) {
    result.motion = BufferMotion::emptying;
    result.fill = 1 - progress;
  } else if (is_among(id, instruction.allocates)) {
    result.motion = BufferMotion::filling;
    result.fill = progress;
  } else if (is_among(id, instruction.writes)) {
    result.motion = BufferMotion::written;
  } else if (is_among(id, instruction.reads)) {
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
    const bool leaving = life.end == at && is_among(life.buffer, instruction.frees) && player.progress() < 1;
    if (life.alive_after(at) || leaving)
      frame.buffers.push_back(shown(plan, instruction, life.buffer, player.progress()));
  }
  std::sort(frame.buffers.begin(), frame.buffers.end(),
            [](const ShownBuffer& a, const ShownBuffer& b) { return a.buffer < b.buffer; });
  frame.live = player.live()[player.position()];
  frame.highest_so_far = player.highest()[player.position()];
  return frame;
}

}  // namespace shardlab::view
