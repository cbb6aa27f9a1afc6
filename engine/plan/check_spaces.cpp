// Who may touch what lies outside of the device.
#include <algorithm>
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
    for (const BufferId id : *list) {
      const bool found = elsewhere && plan.buffer(*elsewhere).space == MemorySpace::disk;
      if (is_of_device(plan.buffer(id).space)) {
        on_device = id;
      } else if (!found) {
        elsewhere = id;
      }
    }
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

// A drive gives and takes whole buffers, as they are, from and to page-locked memory.
std::string complaint_about_drive(const StepPlan& plan, const Instruction& instruction) {
  const auto on_drive = [&](BufferId id) { return plan.buffer(id).space == MemorySpace::disk; };
  std::optional<BufferId> drive;
  for (const auto* list : {&instruction.reads, &instruction.writes}) {
    for (const BufferId id : *list) {
      if (!drive && on_drive(id)) drive = id;
    }
  }
  if (!drive) return {};
  const std::string& name = plan.buffer(*drive).name;
  if (instruction.kind == InstructionKind::Cast)
    return fmt::format("converts {}, which lies on a drive", name);
  if (instruction.reads.size() != 1 || instruction.writes.size() != 1)
    return fmt::format("moves {} together with others: a drive's buffers go one by one", name);
  const bool reads = on_drive(instruction.reads.front());
  const Buffer& other = plan.buffer(reads ? instruction.writes.front() : instruction.reads.front());
  if (other.space == MemorySpace::pinned_host) return {};
  return fmt::format("moves {} {} {} memory: a drive's copies begin and end in page-locked memory", name,
                     reads ? "into" : "out of", to_string(other.space));
}

// Numbers that were summed where the gradients lay.
bool adds_squares(const StepPlan& plan, const Instruction& instruction) {
  return instruction.kind == InstructionKind::GradientNorms &&
         std::all_of(instruction.reads.begin(), instruction.reads.end(),
                     [&](BufferId id) { return plan.buffer(id).role == BufferRole::norms; });
}

}  // namespace

Status check_spaces(const StepPlan& plan) {
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    const bool crosses = crosses_spaces(instruction.kind);
    if (is_host_only(instruction.kind) || instruction.kind == InstructionKind::ZeroGradients ||
        instruction.kind == InstructionKind::Initialize || adds_from_host(plan, instruction) ||
        adds_squares(plan, instruction))
      continue;
    std::string complaint =
        crosses ? complaint_about_drive(plan, instruction) : complaint_about(plan, instruction);
    if (complaint.empty()) continue;
    return internal_error(fmt::format("plan {}, instruction {}", to_string(plan.phase),
                                      instruction_label(plan, make_id<InstructionId>(i))),
                          std::move(complaint));
  }
  return {};
}

}  // namespace shardlab
