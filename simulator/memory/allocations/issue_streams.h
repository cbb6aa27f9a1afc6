// Which stream an instruction's work and memory belong to, as torch's allocator sees it. Private to this
// folder.
//
// The plan's, with one difference. PyTorch makes the views of a flat parameter on the stream that gathers it
// (torch 2.11, fsdp/_runtime_utils.py _unshard), and autograd runs a view's backward on the stream of its
// forward: there a unit's gradients are joined, there the joined one is allocated, and the hook that follows,
// which drops what was gathered, finds that stream as the current one. What came from compute's memory is
// recorded on it; what is its own needs no record. Plans keep the join on compute, whose result it waits for
// at once; only the allocator can tell the two apart.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab {

class IssueStreams {
 public:
  // `joins`: the stream on which gradients are joined; absent: the plan's streams are right as they are.
  IssueStreams(const StepPlan& plan, std::optional<StreamId> joins);

  StreamId of(InstructionId instruction) const { return instructions_[instruction.index()]; }
  StreamId of(BufferId buffer) const { return buffers_[buffer.index()]; }
  // Whether the streams that used the buffer are recorded on it when this instruction frees it.
  bool records(InstructionId instruction, BufferId freed) const;

  std::vector<StreamId> take_instructions() && { return std::move(instructions_); }

 private:
  void move(const StepPlan& plan, StreamId joins);

  const StepPlan& plan_;
  std::vector<StreamId> instructions_, buffers_;
  std::vector<bool> in_hook_;  // by instruction: the hook after a join runs it
};

}  // namespace shardlab
