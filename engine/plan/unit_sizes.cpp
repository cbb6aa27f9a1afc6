#include "engine/plan/unit_sizes.h"

#include <algorithm>
#include <utility>

namespace shardlab {

std::vector<Bytes> gathered_bytes(const StepPlan& step) {
  std::vector<Bytes> largest(step.units.size());
  for (const Buffer& buffer : step.buffers) {
    const bool gathered = buffer.buffer_class == BufferClass::gathered_parameters ||
                          buffer.buffer_class == BufferClass::gather_buffer;
    if (!gathered || !buffer.unit) continue;
    Bytes& of_unit = largest[buffer.unit->index()];
    of_unit = std::max(of_unit, buffer.bytes());
  }
  return largest;
}

Bytes gathered_bytes(const StepPlan& step, UnitId unit) {
  return gathered_bytes(step)[unit.index()];
}

std::vector<int> times_gathered(const StepPlan& step) {
  std::vector<int> times(step.units.size());
  std::vector<std::size_t> counted(step.units.size());  // the instruction, from 1: it counts once a unit
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    for (const BufferId id : step.instructions[i].allocates) {
      const Buffer& buffer = step.buffer(id);
      if (buffer.buffer_class != BufferClass::gathered_parameters || !buffer.unit) continue;
      const std::size_t unit = buffer.unit->index();
      if (std::exchange(counted[unit], i + 1) != i + 1) ++times[unit];
    }
  }
  return times;
}

int times_gathered(const StepPlan& step, UnitId unit) {
  return times_gathered(step)[unit.index()];
}

std::int64_t times_sent(const StepPlan& plan, const Instruction& instruction) {
  if (!is_collective(instruction.kind) || !instruction.group) return 0;
  const int ranks = plan.groups[instruction.group->index()].size;
  const std::int64_t groups = plan.world_size / ranks;
  const std::int64_t times = instruction.kind == InstructionKind::AllReduce ? 2 : 1;
  return times * (ranks - 1) * groups;
}

Bytes sent_bytes(const StepPlan& plan, const Instruction& instruction) {
  return instruction.bytes * times_sent(plan, instruction);
}

}  // namespace shardlab
