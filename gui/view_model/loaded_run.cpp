#include "gui/view_model/loaded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/trace/step_time.h"

namespace shardlab::view {

const StepTrace* typical_step(const LoadedRun& run) {
  std::vector<const StepTrace*> steps;
  for (const StepTrace& step : run.record.trace.steps)
    if (step.plan_hash == run.record.summary.plan_hash) steps.push_back(&step);
  if (steps.empty()) return nullptr;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepTrace* a, const StepTrace* b) { return step_time(*a) < step_time(*b); });
  return steps[(steps.size() - 1) / 2];
}

std::string label_of(const StepPlan& plan, const PlanWords& words, InstructionId id) {
  return fmt::format("{} ({})", words.instruction(id), instruction_label(plan, id));
}

std::string label_of(const LoadedRun& run, InstructionId id) {
  return label_of(run.plan(), run.words(), id);
}

std::string peak_label_of(const LoadedRun& run) {
  const auto& memory = run.record.summary.memory;
  if (!memory) return {};
  const InstructionId peak = memory->peak_instruction;
  const bool steady = peak.index() < run.plan().instructions.size() &&
                      memory->peak_label == instruction_label(run.plan(), peak);
  return steady ? label_of(run, peak) : memory->peak_label;
}

std::string place_of(const StepPlan& plan, InstructionId id) {
  const Instruction& instruction = plan.instruction(id);
  std::string place;
  if (instruction.unit) {
    const PlanUnit& unit = plan.units[instruction.unit->index()];
    place = unit.module_path.empty() ? "the whole model" : unit.module_path;
  }
  if (!instruction.segment) return place;
  const PlanSegment& segment = plan.segments[instruction.segment->index()];
  if (segment.end <= segment.begin) return place;
  const std::uint32_t first = segment.begin.value, last = segment.end.value - 1;
  return fmt::format(
      "{}{}{}", place, place.empty() ? "" : ", ",
      first == last ? fmt::format("operator {}", first) : fmt::format("operators {} to {}", first, last));
}

const RankTrace* rank_of(const StepTrace& step, int rank) {
  const auto found = std::find_if(step.ranks.begin(), step.ranks.end(),
                                  [rank](const RankTrace& candidate) { return candidate.rank == rank; });
  if (found != step.ranks.end()) return &*found;
  return step.ranks.empty() ? nullptr : &step.ranks.front();
}

}  // namespace shardlab::view
