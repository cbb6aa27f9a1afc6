#include "engine/report/teacher_memory.h"

#include <vector>

namespace shardlab {
namespace {

std::vector<bool> alive_during(const StepPlan& plan, InstructionId id) {
  std::vector<bool> alive;
  for (const Buffer& buffer : plan.buffers) alive.push_back(buffer.carried);
  for (std::size_t i = 0; i <= id.index(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    for (const BufferId buffer : instruction.allocates) alive[buffer.index()] = true;
    if (i == id.index()) break;
    for (const BufferId buffer : instruction.frees) alive[buffer.index()] = false;
  }
  return alive;
}

void add(const Buffer& buffer, TeacherMemory& memory) {
  switch (buffer.buffer_class) {
    case BufferClass::parameter:
    case BufferClass::parameter_shard: memory.parameters += buffer.bytes(); break;
    case BufferClass::gathered_parameters:
    case BufferClass::gather_buffer: memory.gathered += buffer.bytes(); break;
    default: break;
  }
}

}  // namespace

TeacherMemory teacher_memory(const PlannedScenario& planned, InstructionId id) {
  const StepPlan& plan = planned.plan.steady;
  const std::vector<bool> alive = alive_during(plan, id);
  TeacherMemory memory;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (!alive[i]) continue;
    if (buffer.unit && planned.partition.unit(*buffer.unit).teacher) add(buffer, memory);
    if (buffer.tensor && *buffer.tensor == planned.graph.teacher->logits) memory.logits += buffer.bytes();
  }
  return memory;
}

}  // namespace shardlab
