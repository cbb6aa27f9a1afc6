// What is gathered ahead.
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

std::vector<Finding> check_no_prefetch(const Rule& rule, const Case& facts) {
  if (facts.job->scenario->parallel->prefetch.backward != BackwardPrefetch::none ||
      !gathers(facts.job->planned->plan.steady))
    return {};
  Finding finding =
      speed_finding(rule, facts, {{"parallel.prefetch.backward=pre"}, {"parallel.prefetch.backward=post"}});
  finding.evidence = {evidence_of_key(facts, "parallel.prefetch.backward")};
  return {finding};
}

Rule no_backward() {
  return {
      .id = "prefetch/no-backward",
      .codes = {"D-11"},
      .title = "nothing is gathered ahead in backward",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::files, Need::plan, Need::prediction},
      .source = "FSDP's BackwardPrefetch; transformers/training_args.py",
      .message = "Backward prefetch is off: each gather waits behind a reduce-scatter.",
      .explanation = "It is the default of the Trainer and of accelerate.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.backward=pre"},
              .text = "gather the next unit before the gradient"},
      .example = "--set parallel.prefetch.backward=none",
      .faults = {{.code = ErrorCode::prefetch_left_out, .most = Severity::info}},
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_no_prefetch}},
  };
}

// FSDP1 gathers a unit in forward when its host reaches it.
std::vector<Finding> check_forward_gathers(const Rule& rule, const Case& facts) {
  const PrefetchSpec& prefetch = facts.job->scenario->parallel->prefetch;
  if (prefetch.forward || !gathers(facts.job->planned->plan.steady)) return {};
  Finding finding = speed_finding(rule, facts, {{"parallel.prefetch.forward=true"}});
  finding.evidence = {evidence_of_key(facts, "parallel.prefetch.forward")};
  return {finding};
}

Rule slow_host() {
  return {
      .id = "prefetch/slow-host",
      .codes = {"D-12"},
      .title = "the host is late in forward",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "FSDP's forward_prefetch",
      .message =
          "Gathers of forward are issued when their unit is reached: issued one unit earlier more of them is "
          "hidden.",
      .explanation =
          "Forward prefetch costs the memory of a gathered unit, and little is gained where the host is "
          "ahead "
          "anyway. The graph must be static.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.forward=true"},
              .text = "try forward prefetch"},
      .example = "--set parallel.prefetch.forward=false",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction},
                  .run = check_forward_gathers}},
  };
}

Rule changing_graph() {
  return {
      .id = "prefetch/changing-graph",
      .codes = {"X-19"},
      .title = "forward prefetch with a changing graph",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/distributed/fsdp/_exec_order_utils.py",
      .message = "Forward prefetch freezes the order of the first step, and the model changes it.",
      .explanation = "The order of units is recorded once.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.forward=false"},
              .text = "turn forward prefetch off"},
      .example =
          "UserWarning: Forward order differs from that of the first iteration on rank 0. Collectives are "
          "unchecked and may give incorrect results or hang.",
      .signs =
          {
              {.pattern = "forward order differs from that of the first iteration", .certainty = 93},
              {.pattern = "forward order differs across ranks", .certainty = 92},
              {.pattern = "collectives are unchecked and may give incorrect results or hang",
               .certainty = 85},
              {.pattern = "forward order differs", .certainty = 90},
          },
  };
}

Rule limiter_waits() {
  return {
      .id = "prefetch/limiter-waits",
      .codes = {"X-22"},
      .title = "the limiter waits while memory is free",
      .severity = Severity::info,
      .needs = {Need::measurement},
      .threshold = "wait above 5 % of the step with memory free (a proposal, to be tuned)",
      .source = "torch/distributed/fsdp/_limiter_utils.py",
      .message = "The host waits in the limit on gathers although memory is free.",
      .explanation = "The limit bounds memory by waiting.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.prefetch.limit_all_gathers=false"},
              .text = "turn the limit off and watch the memory"},
      .example = "8 % of a step in the limiter",
  };
}

}  // namespace

std::vector<Rule> prefetch_prefetch_rules() {
  return {no_backward(), slow_host(), changing_graph(), limiter_waits()};
}

}  // namespace shardlab
