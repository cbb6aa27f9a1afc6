// How the model is cut into units.
#include <fmt/format.h>

#include "engine/doctor/case.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/plan/unit_sizes.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

std::vector<Finding> check_giant_unit(const Rule& rule, const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  const auto giant = giant_unit(planned);
  if (!giant) return {};
  const std::vector<std::vector<std::string>> settings = {{"parallel.wrap={policy: transformer}"}};
  Finding finding = lacks_memory(facts) ? memory_finding(rule, facts, MemoryCause::giant_unit,
                                                         {{RemedyStep::wrapping, settings}})
                                        : effect_finding(rule, facts, settings);
  if (!lacks_memory(facts)) finding.message = rule.message;
  finding.evidence.push_back(evidence_of_key(facts, "parallel.wrap.policy"));
  finding.evidence.push_back(evidence_of_unit(facts, *giant));
  return {finding};
}

// What the nearest loop before the call runs over, that gives it its argument: "model.layers" of `for layer
// in model.layers:`.
std::string_view looped_over(const Call& call) {
  std::string_view over;
  for (const ProgramLine& line : call.file->lines) {
    if (line.number > call.line->number) break;
    const std::size_t in = line.text.find(" in ");
    const bool loops = line.function == call.line->function && line.text.starts_with("for ") &&
                       in != std::string::npos &&
                       line.text.substr(0, in).find(call.argument) != std::string::npos;
    if (loops) over = std::string_view(line.text).substr(in);
  }
  return over;
}

// Whether `inner` wraps a part of what `outer` wraps: model.layers[0], or what a loop over its parts gives.
bool is_part_of(const Call& outer, const Call& inner) {
  const std::string part = outer.argument + ".";
  return inner.argument.starts_with(part) || looped_over(inner).find(part) != std::string_view::npos;
}

std::vector<Finding> check_unit_order(const Rule& rule, const Case& facts) {
  const std::vector<Call> calls = fsdp2_calls(*facts.program);
  for (const Call& outer : calls) {
    for (const Call& inner : calls) {
      if (outer.argument.empty() || !is_before(outer, inner) || !is_part_of(outer, inner)) continue;
      return {finding_of_program(rule, 88, {outer, inner})};
    }
  }
  return {};
}

Rule one_unit() {
  return {
      .id = "wrap/one-unit",
      .codes = {"A-04"},
      .title = "sharding has no effect: everything is one unit",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::files, Need::plan, Need::prediction},
      .threshold =
          "one unit, or the root above 50 % of the elements, or the largest unit above 25 % of the model (a "
          "proposal, to be tuned)",
      .source = "shardlab's plan; FSDP's wrap policies",
      .message = "One unit holds most of the model, so that everything is gathered at once.",
      .explanation = "A unit is gathered whole. Without a wrap policy the root is the only one.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.wrap.policy=transformer"},
              .text = "make every layer a unit"},
      .example = "--set parallel.wrap.policy=none",
      .faults = {{.code = ErrorCode::one_unit}},
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_giant_unit}},
  };
}

std::vector<Finding> check_tiny_units(const Rule& rule, const Case& facts) {
  constexpr std::size_t k_units_a_layer = 4;
  const PlannedScenario& planned = *facts.job->planned;
  const StepPlan& plan = planned.plan.steady;
  if (!facts_of(planned.scenario).gathers_units || planned.graph.layers == 0) return {};
  std::size_t units = 0;
  for (const Bytes gathered : gathered_bytes(plan)) units += gathered.value > 0;
  if (units <= k_units_a_layer * static_cast<std::size_t>(planned.graph.layers)) return {};
  Finding finding = effect_finding(rule, facts, {{"parallel.wrap={policy: transformer}"}});
  finding.message = fmt::format("{} units for {} layers: gathers are small, and each costs its latency.",
                                units, planned.graph.layers);
  finding.evidence = {evidence_of_key(facts, "parallel.wrap.policy")};
  return {finding};
}

Rule tiny_units() {
  return {
      .id = "wrap/tiny-units",
      .codes = {"B-13"},
      .title = "hundreds of tiny units",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold =
          "more than 4 units a layer (a proposal, to be tuned), or a mean gather below the latency knee of "
          "the link",
      .source = "shardlab's prediction",
      .message = "Units are so small that gathers take as long as their latency.",
      .explanation =
          "A size policy with a small minimum cuts layers into pieces; each costs a gather and a reduction.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.wrap.policy=transformer"},
              .text = "make a layer one unit"},
      .example = "--set parallel.wrap.policy=size --set parallel.wrap.min_params=1000000",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_tiny_units}},
  };
}

Rule unit_order() {
  return {
      .id = "wrap/unit-order",
      .codes = {"B-20"},
      .title = "the root was sharded before its layers",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::program},
      .source = "torch/distributed/fsdp/_fully_shard/_fully_shard.py",
      .message = "Inner modules must be sharded before the module around them.",
      .explanation =
          "fully_shard takes the parameters that no inner call has taken; called on the root first, it takes "
          "all.",
      .fix = {.kind = FixKind::code, .text = "call fully_shard on the layers first, then on the root"},
      .example = "fully_shard(model) before fully_shard(layer)",
      .checks = {{.needs = {Need::program}, .run = check_unit_order}},
  };
}

}  // namespace

std::vector<Rule> wrap_one_unit_rules() {
  return {one_unit(), tiny_units(), unit_order()};
}

}  // namespace shardlab
