#include "simulator/memory/allocations/issue_streams.h"

#include <algorithm>

namespace shardlab {

IssueStreams::IssueStreams(const StepPlan& plan, std::optional<StreamId> joins)
    : plan_(plan), in_hook_(plan.instructions.size()) {
  for (const Instruction& instruction : plan.instructions) instructions_.push_back(instruction.stream);
  for (const Buffer& buffer : plan.buffers) buffers_.push_back(buffer.stream);
  if (joins) move(plan, *joins);
}

bool IssueStreams::records(InstructionId instruction, BufferId freed) const {
  if (in_hook_[instruction.index()]) return buffers_[freed.index()] != instructions_[instruction.index()];
  return plan_.instruction(instruction).recorded;
}

// The hook goes on after a join while nothing but frees of its unit follows.
void IssueStreams::move(const StepPlan& plan, StreamId joins) {
  std::optional<UnitId> unit;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    const bool joined = std::any_of(instruction.reads.begin(), instruction.reads.end(), [&](BufferId read) {
      return buffers_[read.index()] != plan.buffer(read).stream;
    });
    if (instruction.kind == InstructionKind::Pack) {
      unit = instruction.unit;
      for (const BufferId made : instruction.allocates) buffers_[made.index()] = joins;
    } else if (!unit || unit != instruction.unit ||
               !(instruction.kind == InstructionKind::Free ||
                 (instruction.kind == InstructionKind::Accumulate && joined))) {
      unit = std::nullopt;
      continue;
    }
    instructions_[i] = joins;
    in_hook_[i] = true;
  }
}

}  // namespace shardlab
