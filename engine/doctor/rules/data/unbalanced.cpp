// Unequal work.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/measured_times.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr double k_spread = 0.1;

std::vector<Finding> check_spread(const Rule& rule, const Case& facts) {
  const auto spread = compute_spread(facts);
  if (!spread) return {};
  const double share = 1 - static_cast<double>(spread->least.value) / static_cast<double>(spread->most.value);
  if (share <= k_spread) return {};
  Finding finding = finding_of(rule);
  if (!is_on_gpus(facts)) finding.severity = Severity::info;  // others work on its processors
  finding.message =
      fmt::format("Rank {} computes {} a step and rank {} {}: the others wait for it.", spread->slowest,
                  to_string(spread->most), spread->fastest, to_string(spread->least));
  finding.ranks = {spread->slowest};
  finding.evidence = {
      evidence_of_measurement(facts, "computation of a step", share_words(share) + " less on one rank")};
  return {finding};
}

Rule unbalanced() {
  return {
      .id = "data/unbalanced",
      .codes = {"E-17"},
      .title = "ranks have unequal work",
      .severity = Severity::warning,
      .needs = {Need::plan, Need::prediction, Need::measurement},
      .threshold = "spread of compute time above 10 % (a proposal, to be tuned)",
      .source = "shardlab's measurement",
      .message = "Ranks take different times for the same step.",
      .explanation = "Sequence lengths or batches differ; the slowest sets the pace of every collective.",
      .fix = {.kind = FixKind::code, .text = "equalise lengths (bucketing, packing) or batches"},
      .example = "forward times of 80 ms and 131 ms on two ranks",
      .checks = {{.needs = {Need::plan, Need::prediction, Need::measurement}, .run = check_spread}},
  };
}

}  // namespace

std::vector<Rule> data_unbalanced_rules() {
  return {unbalanced()};
}

}  // namespace shardlab
