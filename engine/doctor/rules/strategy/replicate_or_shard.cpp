// How much to shard.
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/strategy_settings.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Replicas in the same precision: DDP has no mixed precision of its own, FSDP1's no_shard has.
std::vector<std::vector<std::string>> replicas(const Scenario& scenario) {
  std::vector<std::vector<std::string>> settings;
  if (facts_of(scenario).framework == Framework::deepspeed) {
    settings = strategy_settings(Framework::deepspeed, 1);
    for (std::vector<std::string>& none : strategy_settings(Framework::deepspeed, 0))
      settings.push_back(std::move(none));
  } else {
    settings = strategy_settings(Framework::ddp);
    settings.push_back(strategy_with(Framework::fsdp1, "sharding: no_shard"));
  }
  return settings;
}

std::vector<Finding> check_replication(const Rule& rule, const Case& facts) {
  constexpr double k_comfortable = 0.8;
  const PlannedScenario& planned = *facts.job->planned;
  if (!is_on_gpus(facts) || planned.plan.steady.world_size == 1 || replicates_state(planned.scenario))
    return {};
  Finding finding = speed_finding(rule, facts, replicas(planned.scenario));
  finding.share_of_limit = k_comfortable;
  finding.evidence = {evidence_of_key(facts, "parallel.strategy")};
  return {finding};
}

Rule replication_would_do() {
  return {
      .id = "strategy/replication-would-do",
      .codes = {"B-01", "D-20"},
      .title = "replication would do",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "peak of replicas below 80 % of the device and a faster step (a proposal, to be tuned)",
      .source = "shardlab's prediction",
      .message = "The model fits on every rank: replicas avoid the gathers.",
      .explanation = "With room to spare, an all-reduce costs less than gathers and a reduce-scatter.",
      .fix = {.kind = FixKind::settings, .text = "replicate"},
      .example = "a model of 1 billion parameters on GPUs of 80 GB",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_replication}},
  };
}

std::vector<Finding> check_kept_parameters(const Rule& rule, const Case& facts) {
  const Scenario& scenario = *facts.job->scenario;
  const StrategyFacts& strategy = facts_of(scenario);
  if (!is_on_gpus(facts) || !strategy.gathers_units || !gathers(facts.job->planned->plan.steady)) return {};
  const bool fsdp1 = strategy.framework == Framework::fsdp1;
  Finding finding = speed_finding(
      rule, facts, {{fsdp1 ? "parallel.sharding=shard_grad_op" : "parallel.reshard_after_forward=false"}});
  finding.evidence = {evidence_of_key(facts, fsdp1 ? "parallel.sharding" : "parallel.reshard_after_forward")};
  return {finding};
}

Rule keep_parameters() {
  return {
      .id = "strategy/keep-parameters",
      .codes = {"B-02", "D-18"},
      .title = "parameters could stay gathered",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "a faster step that fits, with parameters kept from forward to backward",
      .source = "shardlab's prediction",
      .message = "Parameters would fit gathered from forward to backward, and are gathered twice.",
      .explanation = "Parameters can stay gathered during the step while the rest is sharded.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.reshard_after_forward=false"},
              .text = "keep parameters gathered after forward"},
      .example = "a step with three gathers that fits with one",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction},
                  .run = check_kept_parameters}},
  };
}

}  // namespace

std::vector<Rule> strategy_replicate_or_shard_rules() {
  return {replication_would_do(), keep_parameters()};
}

}  // namespace shardlab
