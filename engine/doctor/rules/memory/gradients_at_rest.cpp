// Gradients that live longer than they must.
#include "engine/doctor/case.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

std::vector<Finding> check_zeroed(const Rule& rule, const Case& facts) {
  const auto zeroed = first_line_with(*facts.program, {"zero_grad(set_to_none=False", "zero_grad(False)"});
  return zeroed ? std::vector<Finding>{finding_of_program(rule, 92, {*zeroed})} : std::vector<Finding>();
}

Rule gradients_kept() {
  return {
      .id = "memory/gradients-kept",
      .codes = {"B-24"},
      .title = "gradients are kept between steps",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::program},
      .source = "torch.optim.Optimizer.zero_grad",
      .message =
          "Gradients are set to zero instead of being freed: one set of gradients stays in memory at rest.",
      .explanation = "zero_grad(set_to_none=False) keeps the tensors.",
      .fix = {.kind = FixKind::code, .text = "call zero_grad() with set_to_none=True, its default"},
      .example = "optimizer.zero_grad(set_to_none=False)",
      .checks = {{.needs = {Need::program}, .run = check_zeroed}},
  };
}

std::vector<Finding> check_unsharded_gradients(const Rule& rule, const Case& facts) {
  const TrainSpec& train = *facts.job->scenario->train;
  if (!lacks_memory(facts) || train.accumulation < 2 || train.sync != GradientSync::last) return {};
  if (!gathers(facts.job->planned->plan.steady)) return {};
  Finding finding =
      memory_finding(rule, facts, std::nullopt, {{RemedyStep::sharding, {{"train.sync=every"}}}});
  finding.evidence = {evidence_of_key(facts, "train.sync"), evidence_of_key(facts, "train.accumulation")};
  return {finding};
}

Rule accumulation_unsharded() {
  return {
      .id = "memory/accumulation-unsharded",
      .codes = {"X-06"},
      .title = "accumulation keeps unsharded gradients",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "unsharded gradients above the free memory",
      .source = "FSDP's no_sync",
      .message = "Gradients wait unsharded for the last micro-step and do not fit.",
      .explanation =
          "Without a reduction in every micro-step gradients of all parameters live unsharded, 2 or 4 bytes "
          "an element.",
      .fix = {.kind = FixKind::settings,
              .set = {"train.sync=every"},
              .text = "reduce every micro-step instead"},
      .example = "--set train.sync=last --set train.accumulation=8",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction},
                  .run = check_unsharded_gradients}},
  };
}

}  // namespace

std::vector<Rule> memory_gradients_at_rest_rules() {
  return {gradients_kept(), accumulation_unsharded()};
}

}  // namespace shardlab
