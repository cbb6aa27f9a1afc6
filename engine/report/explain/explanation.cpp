#include "engine/report/explain/explanation.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/report/explain/reason.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/resolve_units.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {
namespace {

// A setting of a unit that an override of parallel.wrap changed is shown as that override.
SettingView view_for_unit(const InstructionContext& context, const ScenarioSource& source,
                          const std::string& key) {
  if (context.is_teachers()) {
    const std::string own = teacher_key(key);
    const bool has_own =
        key.starts_with("model.") || key.starts_with("parallel.") || key.starts_with("precision.");
    return view_setting(context.scenario(), source, has_own && key != "model.sequence_length" ? own : key);
  }
  const std::string name =
      key.starts_with("parallel.") ? key.substr(std::string_view("parallel.").size()) : key;
  const auto unit = context.self().unit;
  if (unit && unit->index() < context.planned.partition.units.size()) {
    const std::vector<ModuleId>& modules = context.planned.partition.unit(*unit).modules;
    if (const auto index = deciding_override(context.scenario(), context.planned.graph, modules, name)) {
      const std::string settings = fmt::format("parallel.wrap.overrides[{}].settings", *index);
      return {settings + "." + name, context.scenario().parallel->wrap.overrides[*index].settings.at(name),
              true, source.where(settings)};
    }
  }
  return view_setting(context.scenario(), source, key);
}

void find_neighbours(const StepPlan& step, InstructionId id, Explanation& found) {
  const Instruction& self = step.instruction(id);
  for (std::size_t i = 0; i < step.instructions.size(); ++i) {
    const Instruction& other = step.instructions[i];
    const auto other_id = make_id<InstructionId>(i);
    if (i < id.index() && other.stream == self.stream) found.previous_on_stream = other_id;
    if (i < id.index() && self.group && other.group == self.group) found.previous_in_group = other_id;
    if (std::find(other.waits.begin(), other.waits.end(), id) != other.waits.end())
      found.awaited_by.push_back(other_id);
  }
  if (found.previous_in_group == found.previous_on_stream) found.previous_in_group.reset();
  found.read_by = readers_of(step, id);
}

}  // namespace

Explanation explain(const PlannedScenario& planned, const ScenarioSource& source, const StepPlan& step,
                    InstructionId id) {
  const InstructionContext context{planned, step, id};
  Explanation explanation;
  explanation.purpose = purpose_of(context.self().kind);
  Reason reason = reason_of(context);
  explanation.reason = std::move(reason.text);
  if (context.self().guard == Guard::gradients_finite) {
    explanation.reason += " All ranks skip it when a gradient of the step is not finite.";
  }
  for (const std::string& key : reason.keys)
    explanation.decided_by.push_back(view_for_unit(context, source, key));
  explanation.pass = context.pass();
  explanation.pass_does = describe_pass(step, context.pass());
  for (const InstructionId wait : context.self().waits)
    explanation.waits.push_back({wait, reason_to_wait(context, wait)});
  find_neighbours(step, id, explanation);
  return explanation;
}

}  // namespace shardlab
