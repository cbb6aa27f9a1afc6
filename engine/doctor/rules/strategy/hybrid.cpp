// Sharding within a node.
#include <fmt/format.h>

#include "engine/doctor/job/exposed_by.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Exposed time of collectives whose groups do not fit in a node.
Nanoseconds exposed_between_nodes(const JobFacts& job) {
  const StepPlan& plan = job.planned->plan.steady;
  Nanoseconds exposed;
  for (const ExposedBy& by : exposed_by(plan, job.trace->steps.front().ranks.front())) {
    const int size = by.group ? plan.groups[by.group->index()].size : plan.world_size;
    if (size > job.device->ranks_per_node) exposed += by.exposed;
  }
  return exposed;
}

std::vector<Finding> check_slow_links(const Rule& rule, const Case& facts) {
  constexpr double k_large = 0.2;
  const JobFacts& job = *facts.job;
  const StrategyFacts& strategy = facts_of(*job.scenario);
  if (job.device->nodes < 2 || !strategy.gathers_units || resolve_mesh(*job.scenario).replicate > 1)
    return {};
  const double share = static_cast<double>(exposed_between_nodes(job).value) /
                       static_cast<double>(std::max<std::int64_t>(job.predicted->step_time.median.value, 1));
  if (share <= k_large) return {};
  std::vector<std::string> settings = {fmt::format("parallel.mesh={{replicate: {}}}", job.device->nodes)};
  if (strategy.framework == Framework::fsdp1) settings.push_back("parallel.sharding=hybrid_shard");
  Finding finding = speed_finding(rule, facts, {settings});
  finding.message = fmt::format("Gathers and reductions between {} nodes are exposed for {} of the step.",
                                job.device->nodes, share_words(share));
  finding.evidence = {
      evidence_of_key(facts, "parallel.mesh"),
      evidence_of_figure(facts, "exposed between nodes", share_words(share) + " of the step")};
  return {finding};
}

Rule hybrid_between_nodes() {
  return {
      .id = "strategy/hybrid-between-nodes",
      .codes = {"B-04", "D-19"},
      .title = "gathers go through slow links between nodes",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "exposed communication between nodes above 20 % of the step (a proposal, to be tuned)",
      .source = "shardlab's prediction",
      .message = "Communication between nodes is exposed and the states fit in one node.",
      .explanation =
          "Sharding within the node and replicating across keeps gathers on fast links. Check first that 12 "
          "bytes a parameter over the GPUs of a node fit.",
      .fix = {.kind = FixKind::settings, .text = "shard within the node and replicate across"},
      .example = "four nodes with 100 Gbit/s",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_slow_links}},
  };
}

std::vector<Finding> check_hybrid(const Rule& rule, const Case& facts) {
  const JobFacts& job = *facts.job;
  const ResolvedMesh mesh = resolve_mesh(*job.scenario);
  const StrategyFacts& strategy = facts_of(*job.scenario);
  if (!strategy.gathers_units || mesh.replicate < 2 || mesh.shard < 2 || job.device->nodes > 1) return {};
  std::vector<std::string> settings = {"parallel.mesh={}"};
  if (strategy.framework == Framework::fsdp1) settings.push_back("parallel.sharding=full_shard");
  Finding finding =
      memory_finding(rule, facts, std::nullopt, {{RemedyStep::sharding, {std::move(settings)}}});
  finding.message = rule.message;
  finding.evidence = {evidence_of_key(facts, "parallel.mesh.replicate"),
                      evidence_of_key(facts, "cluster.nodes")};
  return {finding};
}

Rule hybrid_gains_nothing() {
  return {
      .id = "strategy/hybrid-gains-nothing",
      .codes = {"B-23"},
      .title = "hybrid sharding gains nothing here",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "one node, or bandwidth within a node below twice that between (a proposal, to be tuned)",
      .source = "shardlab's hardware figures",
      .message = "There is one node, or links between nodes are about as fast as within.",
      .explanation = "Replicas cost memory.",
      .fix = {.kind = FixKind::settings, .text = "shard over all ranks"},
      .example = "parallel.mesh.replicate=2 on one node",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_hybrid}},
  };
}

}  // namespace

std::vector<Rule> strategy_hybrid_rules() {
  return {hybrid_between_nodes(), hybrid_gains_nothing()};
}

}  // namespace shardlab
