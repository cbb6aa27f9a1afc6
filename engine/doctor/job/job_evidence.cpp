#include "engine/doctor/job/job_evidence.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/doctor/job/job_facts.h"
#include "engine/scenario/setting_view.h"

namespace shardlab {

Evidence evidence_of_key(const Case& facts, std::string_view key) {
  const JobFacts& job = *facts.job;
  const SettingView view = view_setting(*job.scenario, *job.source, std::string(key));
  const Place place = job.source->place(key);
  Evidence evidence;
  evidence.key = key;
  evidence.text =
      view.value.empty() ? fmt::format("{} is not given", key) : fmt::format("{}: {}", key, view.value);
  if (!view.given) {
    evidence.source = job.source->file();
    evidence.where = "by default";
    return evidence;
  }
  evidence.source = place.file;
  evidence.line = place.line;
  evidence.where = place.line > 0 ? fmt::format("line {}, column {}", place.line, place.column) : "";
  return evidence;
}

Evidence evidence_of_instruction(const Case& facts, InstructionId id, std::string text) {
  const StepPlan& plan = facts.job->planned->plan.steady;
  const Instruction& instruction = plan.instruction(id);
  Evidence evidence{facts.job->source->file(), "plan, instruction " + instruction_label(plan, id),
                    std::move(text)};
  if (evidence.text.empty()) evidence.text = to_string(instruction.bytes);
  evidence.instruction = id;
  return evidence;
}

Evidence evidence_of_unit(const Case& facts, UnitId id) {
  const StepPlan& plan = facts.job->planned->plan.steady;
  const PlanUnit& unit = plan.units[id.index()];
  const std::string of = unit.module_path.empty() ? "the whole model's root" : unit.module_path;
  Evidence evidence{facts.job->source->file(), "plan, unit " + unit.name,
                    fmt::format("{} parameters of {}", count_words(unit.elements), of)};
  const auto first = std::find_if(plan.instructions.begin(), plan.instructions.end(),
                                  [&](const Instruction& each) { return each.unit == id; });
  if (first != plan.instructions.end())
    evidence.instruction =
        make_id<InstructionId>(static_cast<std::size_t>(first - plan.instructions.begin()));
  return evidence;
}

Evidence evidence_of_figure(const Case& facts, std::string_view figure, std::string text) {
  return {facts.job->source->file(), fmt::format("prediction, {}", figure), std::move(text)};
}

Evidence evidence_of_measurement(const Case& facts, std::string_view figure, std::string text) {
  return {facts.job->source->file(), fmt::format("measured, {}", figure), std::move(text)};
}

std::string share_words(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.1 ? 1 : 0);
}

std::string count_words(std::int64_t elements) {
  if (elements >= 1'000'000'000) return fmt::format("{:.3g} billion", static_cast<double>(elements) / 1e9);
  if (elements >= 1'000'000) return fmt::format("{:.3g} million", static_cast<double>(elements) / 1e6);
  return fmt::format("{}", elements);
}

}  // namespace shardlab
