// Follows gradients from backward to the optimizer and counts their reductions: over each group at most once,
// and before the optimizer over groups that together join all ranks (`shard`, then `replicate`). An AllToAll
// that says it averages sends what the instruction behind it adds up.
#include <bitset>
#include <optional>

#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_groups = 32;
using Groups = std::bitset<k_most_groups>;  // by GroupId

// Over which groups what lies in a buffer was averaged, all bits where these join all ranks, in whatever way;
// nothing: no gradient.
using GradientState = std::optional<Groups>;

bool averages(const Instruction& instruction) {
  return is_collective(instruction.kind) && instruction.reduce == ReduceOperation::average;
}

bool holds_gradients(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard ||
         buffer.buffer_class == BufferClass::reduce_buffer;
}

class ReductionCheck {
 public:
  explicit ReductionCheck(const StepPlan& plan) : plan_(plan), state_(plan.buffers.size()) {}

  Status check() {
    if (plan_.groups.size() > k_most_groups)
      return internal_error(fmt::format("plan {}", to_string(plan_.phase)), "more groups than a mesh has");
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      at_ = make_id<InstructionId>(i);
      SHARDLAB_CHECK_OK(follow(plan_.instructions[i]));
    }
    return {};
  }

 private:
  tl::unexpected<Error> defect(std::string what) const {
    return internal_error(
        fmt::format("plan {}, instruction {}", to_string(plan_.phase), instruction_label(plan_, at_)),
        std::move(what));
  }

  Status follow(const Instruction& instruction) {
    SHARDLAB_CHECK_OK(check_bytes(instruction));
    switch (instruction.kind) {
      case InstructionKind::Backward: set(instruction.writes, Groups{}); return {};
      case InstructionKind::Pack:
      case InstructionKind::Unpack:
      case InstructionKind::Cast:
      case InstructionKind::Quantize:
      case InstructionKind::Copy: return move_gradients(instruction);
      case InstructionKind::Accumulate: add(instruction); return {};
      case InstructionKind::OptimizerStep: return check_optimizer(instruction);
      default: break;
    }
    if (averages(instruction)) return reduce(instruction);
    return instruction.kind == InstructionKind::AllToAll ? move_gradients(instruction) : Status{};
  }

  void set(const std::vector<BufferId>& buffers, GradientState state) {
    for (const BufferId id : buffers) {
      if (holds_gradients(plan_.buffer(id))) state_[id.index()] = state;
    }
  }

  // What is moved together was averaged over what all of it was.
  Status move_gradients(const Instruction& instruction) {
    GradientState moved;
    bool moves = false;
    for (const BufferId id : instruction.reads) {
      moves = moves || holds_gradients(plan_.buffer(id));
      const GradientState& part = state_[id.index()];
      if (part) moved = moved ? *moved & *part : *part;
    }
    if (moves) set(instruction.writes, moved);
    return {};
  }

  // A sum is averaged over what all its parts were. Averaging once more leaves a part that all ranks agree on
  // as it is.
  void add(const Instruction& instruction) {
    for (const BufferId to : instruction.writes) {
      GradientState& sum = state_[to.index()];
      for (const BufferId from : instruction.reads) {
        const GradientState& part = state_[from.index()];
        if (sum && part) *sum &= *part;
      }
    }
  }

  Status reduce(const Instruction& instruction) {
    const std::size_t group = instruction.group->index();
    if (instruction.root < 0 || instruction.root >= plan_.groups[group].size)
      return defect(fmt::format("has root {} in a group of {}", instruction.root, plan_.groups[group].size));
    for (const BufferId id : instruction.reads) {
      const GradientState& before = state_[id.index()];
      if (plan_.buffer(id).buffer_class == BufferClass::scalar) continue;  // a norm
      if (!before) return defect("reduces " + plan_.buffer(id).name + ", which holds no gradient");
      if (before->test(group))
        return defect("reduces " + plan_.buffer(id).name + " twice over " +
                      to_text(plan_.groups[group].ranks));
      Groups over = *before;
      over.set(group);
      set(instruction.writes, ranks_in(over) == plan_.world_size ? over.set() : over);
    }
    return {};
  }

  // Ranks whose gradients an average over these groups contains.
  int ranks_in(const Groups& groups) const {
    if (groups.all()) return plan_.world_size;
    int ranks = 1;
    for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
      if (groups.test(i)) ranks *= plan_.groups[i].size;
    }
    return ranks;
  }

  Status check_optimizer(const Instruction& instruction) {
    for (const BufferId id : instruction.reads) {
      const Buffer& buffer = plan_.buffer(id);
      if (!holds_gradients(buffer)) continue;
      const int ranks = ranks_in(state_[id.index()].value_or(Groups{}));
      if (ranks == plan_.world_size) continue;
      return defect(fmt::format("uses {}, which was not reduced over the ranks: {} of {}", buffer.name, ranks,
                                plan_.world_size));
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
  InstructionId at_;
};

}  // namespace

Status check_reductions(const StepPlan& plan) {
  return ReductionCheck(plan).check();
}

}  // namespace shardlab
