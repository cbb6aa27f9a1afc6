// Follows gradients from backward to the optimizer and counts their reductions.
#include <algorithm>

#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

enum class GradientState : std::uint8_t { none, local, reduced };

bool averages(const Instruction& instruction) {
  return is_collective(instruction.kind) && instruction.reduce == ReduceOperation::average;
}

bool holds_gradients(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard ||
         buffer.buffer_class == BufferClass::reduce_buffer;
}

class ReductionCheck {
 public:
  explicit ReductionCheck(const StepPlan& plan)
      : plan_(plan),
        state_(plan.buffers.size(), GradientState::none),
        needed_(std::any_of(plan.groups.begin(), plan.groups.end(), [](const Group& group) { return group.size > 1; })) {}

  Status run() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      at_ = make_id<InstructionId>(i);
      SHARDLAB_CHECK_OK(follow(plan_.instructions[i]));
    }
    return {};
  }

 private:
  tl::unexpected<Error> defect(std::string what) const {
    return internal_error(fmt::format("plan {}, instruction {}", plan_.phase, instruction_label(plan_, at_)), std::move(what));
  }

  Status follow(const Instruction& instruction) {
    SHARDLAB_CHECK_OK(check_bytes(instruction));
    switch (instruction.kind) {
      case InstructionKind::Backward: set(instruction.writes, GradientState::local); return {};
      case InstructionKind::Pack:
      case InstructionKind::Unpack:
      case InstructionKind::Cast:
      case InstructionKind::Copy: return move_gradients(instruction);
      case InstructionKind::Accumulate: return check_alike(instruction);
      case InstructionKind::OptimizerStep: return check_optimizer(instruction);
      default: break;
    }
    return averages(instruction) ? reduce(instruction) : Status{};
  }

  void set(const std::vector<BufferId>& buffers, GradientState state) {
    for (const BufferId id : buffers) {
      if (holds_gradients(plan_.buffer(id))) state_[id.index()] = state;
    }
  }

  Status move_gradients(const Instruction& instruction) {
    for (const BufferId id : instruction.reads) {
      if (holds_gradients(plan_.buffer(id))) set(instruction.writes, state_[id.index()]);
    }
    return {};
  }

  Status check_alike(const Instruction& instruction) {
    for (const BufferId from : instruction.reads) {
      for (const BufferId to : instruction.writes) {
        if (state_[from.index()] == state_[to.index()]) continue;
        return defect("adds a reduced gradient to one that is not: " + plan_.buffer(from).name + ", " + plan_.buffer(to).name);
      }
    }
    return {};
  }

  Status reduce(const Instruction& instruction) {
    for (const BufferId id : instruction.reads) {
      if (state_[id.index()] == GradientState::reduced) return defect("reduces " + plan_.buffer(id).name + " twice");
      if (state_[id.index()] == GradientState::none) return defect("reduces " + plan_.buffer(id).name + ", which holds no gradient");
    }
    set(instruction.writes, GradientState::reduced);
    return {};
  }

  Status check_optimizer(const Instruction& instruction) {
    for (const BufferId id : instruction.reads) {
      const Buffer& buffer = plan_.buffer(id);
      if (needed_ && holds_gradients(buffer) && state_[id.index()] != GradientState::reduced) {
        return defect("uses " + buffer.name + ", which was not reduced over the ranks");
      }
    }
    return {};
  }

  Status check_bytes(const Instruction& instruction) const {
    if (!is_collective(instruction.kind)) return {};
    const bool gathers = instruction.kind == InstructionKind::AllGather;
    const auto& full_side = gathers ? instruction.writes : instruction.reads;
    Bytes sum;
    for (const BufferId id : full_side) sum += plan_.buffer(id).bytes();
    if (sum == instruction.bytes) return {};
    return defect(fmt::format("says {} B, its buffers hold {} B", instruction.bytes.value, sum.value));
  }

  const StepPlan& plan_;
  std::vector<GradientState> state_;
  bool needed_;
  InstructionId at_;
};

}  // namespace

Status check_reductions(const StepPlan& plan) { return ReductionCheck(plan).run(); }

}  // namespace shardlab
