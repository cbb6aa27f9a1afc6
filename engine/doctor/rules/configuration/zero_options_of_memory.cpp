// Options of ZeRO that cost memory or bytes.
#include <fmt/format.h>
#include <cmath>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/strategy_settings.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/plan/unit_sizes.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

bool is_zero(const Case& facts, int from, int to) {
  const StrategyFacts& strategy = facts_of(*facts.job->scenario);
  return strategy.framework == Framework::deepspeed && strategy.zero_stage >= from &&
         strategy.zero_stage <= to;
}

// DeepSpeed's own choice: the square of the hidden size, which a twelfth of a layer comes close to.
std::int64_t proposed_bucket(const ModelGraph& graph) {
  return std::max<std::int64_t>(parameters_per_layer(graph) / 12, 1'000'000);
}

std::vector<Finding> check_buckets(const Rule& rule, const Case& facts) {
  constexpr double k_much = 0.01;
  const JobFacts& job = *facts.job;
  const RunSummary& run = *job.predicted;
  if (!is_zero(facts, 1, 3) || !run.memory_limit || !run.memory) return {};
  const Bytes bucket =
      bytes_of(zero_options(*job.scenario).reduce_bucket_size, job.planned->graph.compute_dtype);
  if (static_cast<double>(bucket.value) <= k_much * static_cast<double>(run.memory_limit->value)) return {};
  Finding finding = memory_finding(
      rule, facts, std::nullopt,
      {{RemedyStep::limits,
        {{fmt::format("parallel.zero.reduce_bucket_size={}", proposed_bucket(job.planned->graph))}}}});
  finding.message = fmt::format("A reduce bucket takes {}, with overlap twice that.", to_string(bucket));
  finding.evidence = {evidence_of_key(facts, "parallel.zero.reduce_bucket_size")};
  return {finding};
}

Rule zero_buckets() {
  return {
      .id = "configuration/zero-buckets",
      .codes = {"X-08"},
      .title = "a gigabyte for buckets",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "deepspeed/runtime/zero/stage_1_and_2.py",
      .message = "A reduce bucket of 5e8 elements takes 1 GB, 2 GB with overlap.",
      .explanation = "The default is made for large GPUs.",
      .fix = {.kind = FixKind::settings, .text = "set reduce_bucket_size to the square of the hidden size"},
      .example = "reduce_bucket_size: 5e8 on a GPU of 24 GB",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_buckets}},
  };
}

std::vector<Finding> check_all_reduce(const Rule& rule, const Case& facts) {
  const ZeroOptions options = zero_options(*facts.job->scenario);
  const StepPlan& plan = facts.job->planned->plan.steady;
  if (!is_zero(facts, 2, 2) || !options.use_multi_rank_bucket_allreduce || plan.world_size == 1) return {};
  std::vector<std::vector<std::string>> settings = strategy_settings(Framework::deepspeed, 3);
  settings.insert(settings.begin(), {"parallel.zero.use_multi_rank_bucket_allreduce=false"});
  Finding finding = speed_finding(rule, facts, std::move(settings), false);
  finding.evidence = {evidence_of_key(facts, "parallel.zero.use_multi_rank_bucket_allreduce")};
  return {finding};
}

Rule zero_all_reduce() {
  return {
      .id = "configuration/zero-all-reduce",
      .codes = {"X-07"},
      .title = "ZeRO-2 sends more than expected",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "deepspeed/runtime/zero/config.py",
      .message = "Buckets are all-reduced: three times the parameters instead of two.",
      .explanation = "use_multi_rank_bucket_allreduce is on by default.",
      .fix = {.kind = FixKind::settings,
              .text = "set use_multi_rank_bucket_allreduce to false (many small reductions), or ZeRO-3"},
      .example = "a stage 2 configuration without it",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_all_reduce}},
  };
}

// Elements that are not given back between forward and backward, or never were partitioned, of all.
double held_share(const PlannedScenario& planned) {
  const StepPlan& plan = planned.plan.steady;
  const std::vector<int> times = times_gathered(plan);
  std::int64_t held = 0, all = 0;
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    all += plan.units[i].elements;
    if (times[i] <= plan.micro_batches) held += plan.units[i].elements;
  }
  return all > 0 ? static_cast<double>(held) / static_cast<double>(all) : 0;
}

std::vector<Finding> check_held(const Rule& rule, const Case& facts) {
  constexpr double k_most = 0.5;
  if (!is_zero(facts, 3, 3)) return {};
  const double share = held_share(*facts.job->planned);
  if (share <= k_most) return {};
  const std::vector<std::string> released = {"parallel.zero.stage3_max_reuse_distance=0",
                                             "parallel.zero.stage3_prefetch_bucket_size=0"};
  const std::vector<std::string> threshold = {"parallel.zero.stage3_param_persistence_threshold=100000"};
  std::vector<std::string> both = released;
  both.insert(both.end(), threshold.begin(), threshold.end());
  Finding finding =
      memory_finding(rule, facts, std::nullopt, {{RemedyStep::limits, {threshold, released, both}}});
  finding.message =
      fmt::format("{} of the parameters stay whole from forward to backward.", share_words(share));
  finding.evidence = {evidence_of_key(facts, "parallel.zero.stage3_max_reuse_distance"),
                      evidence_of_key(facts, "parallel.zero.stage3_param_persistence_threshold")};
  return {finding};
}

Rule zero3_holds_all() {
  return {
      .id = "configuration/zero3-holds-all",
      .codes = {"X-09"},
      .title = "ZeRO-3 keeps all weights",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "deepspeed/runtime/zero/partitioned_param_coordinator.py",
      .message = "The reuse distance or the persistence threshold keep most parameters gathered.",
      .explanation =
          "stage3_max_reuse_distance above the trace of a step keeps all; parameters below the threshold are "
          "never partitioned.",
      .fix = {.kind = FixKind::settings,
              .text = "lower stage3_max_reuse_distance and stage3_param_persistence_threshold"},
      .example = "stage3_max_reuse_distance: 1e9 for a model of 1 billion",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_held}},
  };
}

}  // namespace

std::vector<Rule> configuration_zero_options_of_memory_rules() {
  return {zero_buckets(), zero_all_reduce(), zero3_holds_all()};
}

}  // namespace shardlab
