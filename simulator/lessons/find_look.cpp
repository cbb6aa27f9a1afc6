#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/scenario/scenario.h"
#include "simulator/lessons/draw_look.h"
#include "simulator/lessons/found_instruction.h"

namespace shardlab::lessons {
namespace {

constexpr std::string_view k_peak = "peak";

const StepTrace* trace_of(const RunTrace& trace, const StepPlan& plan, const RunPlan& run) {
  if (&plan == &run.steady) return trace.steps.empty() ? nullptr : &trace.steps.front();
  for (const StepTrace& step : trace.warmup) {
    if (&run.step(step.step) == &plan) return &step;
  }
  return nullptr;
}

Result<std::optional<InstructionId>> find_one(const FoundLook& found, const std::string& text) {
  if (text.empty()) return std::optional<InstructionId>();
  const RunSummary& summary = found.subject->summary;
  if (text == k_peak && summary.memory && found.plan == &found.subject->planned.plan.steady)
    return std::optional(summary.memory->peak_instruction);
  SHARDLAB_TRY(const InstructionId id, found_instruction(*found.plan, text));
  return std::optional(id);
}

Status check_highlight(const FoundLook& found, const std::string& highlight) {
  if (highlight.empty() || parse_word<BufferClass>(highlight)) return {};
  std::vector<std::string> known = all_words<BufferClass>();
  for (const Stream& stream : found.plan->streams) {
    if (stream.name == highlight) return {};
    known.push_back(stream.name);
  }
  return bad_input({}, fmt::format("'{}' is no class of buffer and no stream", highlight),
                   suggestion(highlight, known));
}

Result<FoundLook> find_parts(const LookStep& look, const LessonSubjects& subjects) {
  FoundLook found;
  if (look.scenarios.empty()) return bad_input({}, "a look names no scenario");
  for (const std::string& scenario : look.scenarios) SHARDLAB_CHECK_OK(subjects.predicted(scenario));
  SHARDLAB_TRY(found.subject, subjects.predicted(look.scenarios.front()));
  const auto phase = parse_word<PlanPhase>(look.plan_step);
  found.plan = phase ? found.subject->planned.plan.find(*phase) : nullptr;
  if (found.plan == nullptr)
    return bad_input({}, fmt::format("the run has no step '{}'", look.plan_step), "setup, first or steady");
  const StepTrace* const trace = trace_of(found.subject->trace, *found.plan, found.subject->planned.plan);
  if (trace == nullptr || trace->ranks.empty())
    return bad_input({}, fmt::format("step {} was not predicted", look.plan_step));
  if (look.rank >= world_size(found.subject->planned.scenario))
    return bad_input({}, fmt::format("there is no rank {}", look.rank));
  found.rank = &trace->ranks.front();  // a prediction has one, which stands for all
  SHARDLAB_TRY(found.chosen, find_one(found, look.instruction));
  SHARDLAB_TRY(found.from, find_one(found, look.from));
  SHARDLAB_TRY(found.to, find_one(found, look.to));
  SHARDLAB_CHECK_OK(check_highlight(found, look.highlight));
  if (look.panel == LookPanel::player && !found.chosen)
    return bad_input({}, "the player needs an instruction", "instruction: AllGather u1");
  found.title = fmt::format("{} of {}", to_string(look.panel), fmt::join(look.scenarios, " and "));
  return found;
}

}  // namespace

Result<FoundLook> find_look(const LookStep& look, const LessonSubjects& subjects) {
  Result<FoundLook> found = find_parts(look, subjects);
  if (found || !found.error().place.empty()) return found;
  Error error = std::move(found).error();
  error.place = Place(fmt::format("look at {}", to_string(look.panel)));
  return fail(std::move(error));
}

}  // namespace shardlab::lessons
