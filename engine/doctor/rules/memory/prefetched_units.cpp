// Units that are gathered ahead.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

std::vector<Finding> check_limit(const Rule& rule, const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  if (planned.scenario.parallel->prefetch.limit_all_gathers || !gathers(planned.plan.steady)) return {};
  Finding finding = memory_finding(rule, facts, std::nullopt,
                                   {{RemedyStep::limits, {{"parallel.prefetch.limit_all_gathers=true"}}}});
  if (!lacks_memory(facts)) finding.message = rule.message;
  finding.evidence.push_back(evidence_of_key(facts, "parallel.prefetch.limit_all_gathers"));
  return {finding};
}

Rule gathers_not_limited() {
  return {
      .id = "memory/gathers-not-limited",
      .codes = {"A-08", "B-06"},
      .title = "gathers are not limited",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "limit off, or more than 3 gathered buffers alive",
      .source = "torch/distributed/fsdp/fully_sharded_data_parallel.py (limit_all_gathers)",
      .message = "The limit on gathers is off: many units may be gathered at the same time.",
      .explanation =
          "The limit has been on by default since PyTorch 2.1 (it was off in 2.0); it bounds the gathered "
          "buffers to two or three units.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.limit_all_gathers=true"},
              .text = "leave the limit at its default"},
      .example = "--set parallel.prefetch.limit_all_gathers=false",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_limit}},
  };
}

std::vector<Finding> check_backward_prefetch(const Rule& rule, const Case& facts) {
  const PrefetchSpec& prefetch = facts.job->scenario->parallel->prefetch;
  if (!lacks_memory(facts) || !gathers(facts.job->planned->plan.steady)) return {};
  std::vector<std::vector<std::string>> levels;
  if (prefetch.backward_depth > 0) levels.push_back({"parallel.prefetch.backward_depth=0"});
  if (prefetch.backward == BackwardPrefetch::pre) levels.push_back({"parallel.prefetch.backward=post"});
  if (prefetch.backward != BackwardPrefetch::none) levels.push_back({"parallel.prefetch.backward=none"});
  Finding finding = memory_finding(rule, facts, std::nullopt, {{RemedyStep::limits, std::move(levels)}});
  finding.evidence.push_back(evidence_of_key(facts, "parallel.prefetch.backward"));
  return {finding};
}

Rule backward_prefetch() {
  return {
      .id = "memory/backward-prefetch",
      .codes = {"D-22"},
      .title = "backward prefetch costs a unit of memory",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "peak within 5 % of the device's memory (a proposal, to be tuned)",
      .source = "FSDP's BackwardPrefetch",
      .message =
          "The peak is close to the device's memory, and the next unit is gathered before the gradient of "
          "this one is computed.",
      .explanation =
          "Gathering later (post), or not ahead at all, saves about one gathered unit and shows some "
          "communication.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.backward=post"},
              .text = "gather the next unit after the gradient"},
      .example = "--set parallel.prefetch.backward=pre with a peak of 97 %",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction},
                  .run = check_backward_prefetch}},
  };
}

std::vector<Finding> check_forward_prefetch(const Rule& rule, const Case& facts) {
  const PrefetchSpec& prefetch = facts.job->scenario->parallel->prefetch;
  if (!lacks_memory(facts) || (!prefetch.forward && prefetch.forward_depth == 0)) return {};
  const std::vector<std::string> off = {prefetch.forward ? "parallel.prefetch.forward=false"
                                                         : "parallel.prefetch.forward_depth=0"};
  Finding finding = memory_finding(rule, facts, std::nullopt, {{RemedyStep::limits, {off}}});
  finding.evidence.push_back(evidence_of_key(
      facts, prefetch.forward ? "parallel.prefetch.forward" : "parallel.prefetch.forward_depth"));
  return {finding};
}

Rule forward_prefetch() {
  return {
      .id = "memory/forward-prefetch",
      .codes = {"D-09"},
      .title = "forward prefetch costs a unit of memory",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "forward prefetch on, the peak in forward",
      .source = "FSDP's forward_prefetch",
      .message = "Forward prefetch is on and the peak lies in forward.",
      .explanation = "Turning it off saves at most one gathered unit.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.forward=false"},
              .text = "turn forward prefetch off"},
      .example = "--set parallel.prefetch.forward=true",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_forward_prefetch}},
  };
}

}  // namespace

std::vector<Rule> memory_prefetched_units_rules() {
  return {gathers_not_limited(), backward_prefetch(), forward_prefetch()};
}

}  // namespace shardlab
