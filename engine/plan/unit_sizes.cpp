#include "engine/plan/unit_sizes.h"

#include <algorithm>

namespace shardlab {

Bytes gathered_bytes(const StepPlan& step, UnitId unit) {
  Bytes largest;
  for (const Buffer& buffer : step.buffers) {
    const bool gathered = buffer.buffer_class == BufferClass::gathered_parameters ||
                          buffer.buffer_class == BufferClass::gather_buffer;
    if (gathered && buffer.unit == unit) largest = std::max(largest, buffer.bytes());
  }
  return largest;
}

int times_gathered(const StepPlan& step, UnitId unit) {
  return static_cast<int>(
      std::count_if(step.instructions.begin(), step.instructions.end(), [&](const Instruction& instruction) {
        return std::any_of(instruction.allocates.begin(), instruction.allocates.end(), [&](BufferId id) {
          const Buffer& buffer = step.buffer(id);
          return buffer.unit == unit && buffer.buffer_class == BufferClass::gathered_parameters;
        });
      }));
}

Bytes sent_bytes(const StepPlan& plan, const Instruction& instruction) {
  if (!is_collective(instruction.kind) || !instruction.group) return {};
  const int ranks = plan.groups[instruction.group->index()].size;
  const std::int64_t groups = plan.world_size / ranks;
  const std::int64_t times = instruction.kind == InstructionKind::AllReduce ? 2 : 1;
  return instruction.bytes * (times * (ranks - 1) * groups);
}

}  // namespace shardlab
