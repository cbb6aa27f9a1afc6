// The plan played as an animation: which instruction is at work, which buffers it fills and empties.
//
// It is for teaching: every instruction gets the same time, whatever it takes for real, and they come in the
// order in which the host issues them. A plain value; the plan must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/step_plan.h"
#include "gui/view_model/memory/buffer_lives.h"

namespace shardlab::view {

class StepPlayer {
 public:
  static constexpr double k_slowest = 0.25;  // instructions a second
  static constexpr double k_fastest = 256;

  explicit StepPlayer(const StepPlan& plan);

  const StepPlan& plan() const { return *plan_; }
  bool playing() const { return playing_; }
  bool at_end() const { return position_ + 1 >= plan_->instructions.size() && progress_ >= 1; }
  double speed() const { return speed_; }  // instructions a second
  // The place of the instruction that is shown, and how much of it is done, from 0 to 1.
  std::size_t position() const { return position_; }
  double progress() const { return progress_; }

  void play();  // from the beginning when it is at the end
  void pause() { playing_ = false; }
  void set_speed(double instructions_per_second);
  // Shows the instruction as done, or so much of it; stops playing.
  void seek(std::size_t position, double progress = 1);
  void step_forward();
  void step_back();
  // Time that has passed, in seconds.
  void advance(double seconds);

  const std::vector<BufferLife>& lives() const { return lives_; }
  // Bytes alive after each instruction, and the most that were up to it.
  const std::vector<Bytes>& live() const { return live_; }
  const std::vector<Bytes>& highest() const { return highest_; }

 private:
  const StepPlan* plan_;
  std::vector<BufferLife> lives_;
  std::vector<Bytes> live_, highest_;
  std::size_t position_ = 0;
  double progress_ = 0;
  double speed_ = 4;
  bool playing_ = false;
};

// Whether the buffer is one of these.
bool is_among(BufferId id, const std::vector<BufferId>& buffers);

enum class BufferMotion : std::uint8_t {
  rest,
  read,
  written,   // was there before
  filling,   // was just allocated
  emptying,  // is being freed
};

struct ShownBuffer {
  BufferId buffer;
  Bytes bytes;
  double fill = 1;  // the part that is drawn full, from 0 to 1
  BufferMotion motion = BufferMotion::rest;
};

// What there is to draw at this moment: the alive buffers in the order of the plan, so that none jumps about.
struct PlayerFrame {
  std::optional<InstructionId> instruction;  // none in an empty plan
  std::vector<ShownBuffer> buffers;
  Bytes live;            // bytes after the instruction
  Bytes highest_so_far;  // of all instructions up to this one
};

PlayerFrame frame_of(const StepPlayer& player);

}  // namespace shardlab::view
