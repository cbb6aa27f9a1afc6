#include "engine/plan/sent_bytes.h"

namespace shardlab {

Bytes sent_bytes(const StepPlan& plan, const Instruction& instruction) {
  if (!is_collective(instruction.kind) || !instruction.group) return {};
  const int ranks = plan.groups[instruction.group->index()].size;
  const std::int64_t groups = plan.world_size / ranks;
  const std::int64_t times = instruction.kind == InstructionKind::AllReduce ? 2 : 1;
  return instruction.bytes * (times * (ranks - 1) * groups);
}

}  // namespace shardlab
