#include "engine/trace/memory_timeline.h"

#include <algorithm>

namespace shardlab {

std::optional<StepPhase> phase_that_begins(const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::Forward: return StepPhase::forward;
    case InstructionKind::Recompute:
    case InstructionKind::Backward: return StepPhase::backward;
    // A unit's own are squared as they leave, while backward goes on.
    case InstructionKind::GradientNorms:
      return instruction.unit ? std::nullopt : std::optional(StepPhase::optimizer);
    case InstructionKind::Unscale:
    case InstructionKind::CheckFinite:
    case InstructionKind::ClipGradients:
    case InstructionKind::OptimizerStep: return StepPhase::optimizer;
    case InstructionKind::ZeroGradients:
      return instruction.writes.empty() ? StepPhase::optimizer : StepPhase::backward;
    default: return std::nullopt;
  }
}

std::vector<StepPhase> phases_of(const StepPlan& plan) {
  std::vector<StepPhase> phases;
  phases.reserve(plan.instructions.size());
  StepPhase phase = StepPhase::forward;
  for (const Instruction& instruction : plan.instructions) {
    phase = phase_that_begins(instruction).value_or(phase);
    phases.push_back(phase);
  }
  return phases;
}

namespace {

void note_spaces(const MemorySample& sample, BytesBySpace& peaks) {
  for (std::size_t i = 0; i < peaks.size(); ++i) peaks[i] = std::max(peaks[i], sample.peak_elsewhere[i]);
}

std::vector<SpaceMemory> spaces_of(const StepPlan& plan, BytesBySpace peaks, Bytes on_device) {
  peaks[static_cast<std::size_t>(MemorySpace::device)] = on_device;
  std::vector<SpaceMemory> spaces;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const auto space = static_cast<MemorySpace>(i);
    if (space == MemorySpace::device || peaks[i].value != 0)
      spaces.push_back({space, carried_bytes(plan, space), peaks[i]});
  }
  return spaces;
}

}  // namespace

std::optional<MemorySummary> summarize_memory(const StepPlan& plan, std::span<const StepTrace> steps) {
  std::optional<MemorySummary> summary;
  BytesBySpace elsewhere{};
  const std::vector<StepPhase> phases = phases_of(plan);
  for (const StepTrace& step : steps) {
    for (const RankTrace& rank : step.ranks) {
      for (const MemorySample& sample : rank.memory) {
        const bool first = !summary;
        if (first) summary.emplace();
        Bytes& phase = summary->phases[static_cast<std::size_t>(phases[sample.instruction.index()])];
        phase = std::max(phase, sample.peak);
        note_spaces(sample, elsewhere);
        if (!first && sample.peak <= summary->peak_allocated) continue;
        summary->peak_allocated = sample.peak;
        summary->by_class = sample.by_class_at_peak;
        summary->peak_instruction = sample.instruction;
        summary->peak_rank = rank.rank;
        summary->peak_step = step.step;
      }
    }
  }
  if (!summary) return summary;
  summary->peak_label = instruction_label(plan, summary->peak_instruction);
  summary->spaces = spaces_of(plan, elsewhere, summary->peak_allocated);
  return summary;
}

}  // namespace shardlab
