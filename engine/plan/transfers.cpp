#include "engine/plan/transfers.h"

#include <algorithm>
#include <map>
#include <utility>

namespace shardlab {

std::optional<SpacePair> transfer_of(const StepPlan& plan, const Instruction& instruction) {
  if (instruction.reads.empty() || instruction.writes.empty()) return std::nullopt;
  if (instruction.kind == InstructionKind::GradientNorms) return std::nullopt;  // adds up numbers
  const SpacePair pair{plan.buffer(instruction.reads.front()).space,
                       plan.buffer(instruction.writes.front()).space};
  if (pair.from == pair.to) return std::nullopt;
  // What a processor moves within its own memory crosses no link.
  if (is_host(pair.from) && is_host(pair.to)) return std::nullopt;
  return pair;
}

bool uses_drive(const StepPlan& plan, const Instruction& instruction) {
  if (instruction.kind != InstructionKind::Copy) return false;
  const auto pair = transfer_of(plan, instruction);
  return pair && (pair->from == MemorySpace::disk || pair->to == MemorySpace::disk);
}

bool runs_on_host(const StepPlan& plan, const Instruction& instruction) {
  if (is_host_only(instruction.kind) || instruction.kind == InstructionKind::ZeroGradients) return false;
  if (instruction.reads.empty() && instruction.writes.empty()) return false;
  const auto in_host_memory = [&](BufferId id) { return is_host(plan.buffer(id).space); };
  return std::all_of(instruction.reads.begin(), instruction.reads.end(), in_host_memory) &&
         std::all_of(instruction.writes.begin(), instruction.writes.end(), in_host_memory);
}

std::vector<TransferTotal> transfers_of(const StepPlan& plan) {
  std::map<std::pair<MemorySpace, MemorySpace>, TransferTotal> totals;
  for (const Instruction& instruction : plan.instructions) {
    const auto pair = transfer_of(plan, instruction);
    if (!pair) continue;
    TransferTotal& total = totals[{pair->from, pair->to}];
    total.from = pair->from;
    total.to = pair->to;
    ++total.count;
    total.bytes += instruction.bytes;
  }
  std::vector<TransferTotal> result;
  for (const auto& [pair, total] : totals) result.push_back(total);
  return result;
}

}  // namespace shardlab
