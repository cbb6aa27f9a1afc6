// Follows the segments of each micro-batch: forward, perhaps forward again, backward.
#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

enum class Passed : std::uint8_t { nothing, forward, recomputation, backward };

class RecomputationCheck {
 public:
  explicit RecomputationCheck(const StepPlan& plan) : plan_(plan) {}

  Status check() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      if (!runs_segment(instruction.kind) || !instruction.segment) continue;
      const std::string complaint = follow(instruction, state_of(instruction));
      if (complaint.empty()) continue;
      return internal_error(fmt::format("plan {}, instruction {}", to_string(plan_.phase),
                                        instruction_label(plan_, make_id<InstructionId>(i))),
                            complaint);
    }
    return {};
  }

 private:
  struct State {
    Passed passed = Passed::nothing;
    bool kept = false;  // what backward needs
  };

  State& state_of(const Instruction& instruction) {
    const auto micro_batch = static_cast<std::size_t>(instruction.micro_batch.value_or(0));
    if (states_.size() <= micro_batch) states_.resize(micro_batch + 1);
    if (states_[micro_batch].size() <= instruction.segment->index())
      states_[micro_batch].resize(instruction.segment->index() + 1);
    return states_[micro_batch][instruction.segment->index()];
  }

  bool keeps(const Instruction& instruction) const {
    for (const BufferId id : instruction.writes) {
      if (plan_.buffer(id).saved_by == instruction.segment) return true;
    }
    return false;
  }

  std::string follow(const Instruction& instruction, State& state) const {
    switch (instruction.kind) {
      case InstructionKind::Forward:
        if (state.passed != Passed::nothing) return "the segment's forward ran already";
        state = {Passed::forward, keeps(instruction)};
        return {};
      case InstructionKind::Recompute:
        if (state.passed == Passed::nothing) return "recomputes what was never computed";
        if (state.passed != Passed::forward)
          return "the segment was run again already, or its backward is over";
        if (state.kept) return "recomputes what its forward has kept";
        state = {Passed::recomputation, keeps(instruction)};
        return {};
      default:
        if (state.passed == Passed::nothing) return "backward of a segment whose forward did not run";
        if (state.passed == Passed::backward) return "the segment's backward ran already";
        state.passed = Passed::backward;
        return {};
    }
  }

  const StepPlan& plan_;
  std::vector<std::vector<State>> states_;  // by micro-batch and segment
};

}  // namespace

Status check_recomputations(const StepPlan& plan) {
  return RecomputationCheck(plan).check();
}

}  // namespace shardlab
