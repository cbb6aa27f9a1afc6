// Values that are not finite, or grow.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_figures(const Rule& rule, const Case& facts) {
  const auto& seen = facts.log->not_finite;
  if (!seen) return {};
  Finding finding = finding_of(rule);
  finding.message = fmt::format("The {} is NaN or infinite in {}.", seen->name,
                                seen->count == 1 ? "one line" : fmt::format("{} lines", seen->count));
  finding.certainty = 74;
  finding.position = seen->at.line;
  finding.evidence.push_back(evidence_of(facts, seen->at));
  return {finding};
}

std::vector<Finding> check_run(const Rule& rule, const Case& facts) {
  const auto& losses = facts.job->measured->losses;
  const auto bad =
      std::find_if(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
  if (bad == losses.end()) return {};
  Finding finding = finding_of(rule);
  const auto step = bad - losses.begin();
  finding.message = fmt::format("The loss is NaN or infinite from step {} on.", step);
  finding.evidence = {evidence_of_measurement(
      facts, "loss", step == 0 ? "of the first step" : fmt::format("{:.4g} in the step before", *(bad - 1)))};
  return {finding};
}

Rule non_finite_gradient() {
  return {
      .id = "numerics/non-finite-gradient",
      .codes = {"C-10"},
      .title = "gradients are not finite",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log},
      .threshold = "a norm or a loss that is not finite",
      .source = "torch.autograd.set_detect_anomaly; torch.nn.utils.clip_grad_norm_(error_if_nonfinite)",
      .message = "A gradient or a loss is NaN or infinite.",
      .explanation =
          "Name the first unit, or with anomaly mode the first function, whose gradient is not finite; what "
          "follows is infected. Anomaly mode is slow and only for debugging.",
      .fix = {.kind = FixKind::code,
              .text = "find the first bad value (torch.autograd.set_detect_anomaly, or the norm by unit), "
                      "look at the batch of that step, then at precision and learning rate"},
      .example = "RuntimeError: Function 'Log1PBackward0' returned nan values in its 0th output.",
      .signs =
          {
              {.pattern = "function*returned nan values in its", .certainty = 93},
              {.pattern = "returned nan values", .certainty = 85},
              {.pattern = "the total norm*for gradients*is non-finite", .certainty = 95},
              {.pattern = "total norm*non-finite", .certainty = 93},
              {.pattern = "overflow! skipping step. gradients are non-finite",
               .certainty = 75,
               .message = "A step was skipped because gradients were not finite.",
               .most = Severity::warning},
              {.pattern = "gradients*non-finite", .certainty = 75, .unless = {"overflow! skipping step"}},
              {.pattern = "gradient norm is nan", .certainty = 92},
              {.pattern = "grad_norm is nan", .certainty = 92},
              {.pattern = "found nan in*grad", .certainty = 88},
              {.pattern = "found nan in local grad norm", .certainty = 93},
              {.pattern = "rank*found nan", .certainty = 85},
              {.pattern = "nan in gradients", .certainty = 88},
              {.pattern = "nan or inf found in input tensor", .certainty = 75},
              {.pattern = "loss is nan", .certainty = 84},
              {.pattern = "loss is inf", .certainty = 84},
              {.pattern = "nan loss", .certainty = 75},
              {.pattern = "nan detected in", .certainty = 84},
              {.pattern = "tensor(nan", .certainty = 60},
              {.pattern = "probability tensor contains either*inf*nan", .certainty = 70},
              {.pattern = "expected parameter*to satisfy the constraint*but found invalid values*nan",
               .certainty = 70},
              {.pattern = "non-finite loss", .certainty = 82},
              {.pattern = "loss is*nan, stopping training", .certainty = 85},
          },
      .checks = {{.needs = {Need::log}, .run = check_figures},
                 {.needs = {Need::measurement}, .run = check_run}},
  };
}

}  // namespace

std::vector<Rule> numerics_not_finite_rules() {
  return {non_finite_gradient()};
}

}  // namespace shardlab
