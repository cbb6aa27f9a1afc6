// Who may touch what lies outside of the device.
#include <optional>

#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

// Moves values from buffer to buffer, whatever their spaces.
bool crosses_spaces(InstructionKind kind) {
  return kind == InstructionKind::Copy || kind == InstructionKind::Cast;
}

// What lies on the host is brought and added to what lies on the device.
bool adds_from_host(const StepPlan& plan, const Instruction& instruction) {
  return instruction.kind == InstructionKind::Accumulate && !instruction.writes.empty() &&
         plan.buffer(instruction.writes.front()).space == MemorySpace::device;
}

// All that is not a copy works on the device, or on the host.
std::string complaint_about(const StepPlan& plan, const Instruction& instruction) {
  std::optional<BufferId> on_device, elsewhere;
  for (const auto* list : {&instruction.reads, &instruction.writes}) {
    for (const BufferId id : *list)
      (plan.buffer(id).space == MemorySpace::device ? on_device : elsewhere) = id;
  }
  if (!elsewhere) return {};
  const Buffer& buffer = plan.buffer(*elsewhere);
  if (on_device) {
    return fmt::format("uses {} in {} memory beside {} on the device: a Copy is missing", buffer.name,
                       to_string(buffer.space), plan.buffer(*on_device).name);
  }
  if (!runs_segment(instruction.kind) && is_host(buffer.space)) return {};
  return fmt::format("computes on {}, which lies in {} memory", buffer.name, to_string(buffer.space));
}

}  // namespace

Status check_spaces(const StepPlan& plan) {
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (is_host_only(instruction.kind) || instruction.kind == InstructionKind::ZeroGradients ||
        crosses_spaces(instruction.kind) || adds_from_host(plan, instruction))
      continue;
    std::string complaint = complaint_about(plan, instruction);
    if (complaint.empty()) continue;
    return internal_error(fmt::format("plan {}, instruction {}", to_string(plan.phase),
                                      instruction_label(plan, make_id<InstructionId>(i))),
                          std::move(complaint));
  }
  return {};
}

}  // namespace shardlab
