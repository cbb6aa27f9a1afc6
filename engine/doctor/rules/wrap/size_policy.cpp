// What a size policy makes of a model.
#include <fmt/format.h>
#include <algorithm>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

std::vector<Finding> check_remainder(const Rule& rule, const Case& facts) {
  constexpr std::int64_t k_larger = 3;
  const PlannedScenario& planned = *facts.job->planned;
  if (planned.scenario.parallel->wrap.policy != WrapPolicyKind::size || !gathers(planned.plan.steady))
    return {};
  std::vector<std::int64_t> sizes;
  UnitId largest;
  const auto& units = planned.plan.steady.units;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i].elements > 0) sizes.push_back(units[i].elements);
    if (units[i].elements > units[largest.index()].elements) largest = make_id<UnitId>(i);
  }
  if (sizes.size() < 2) return {};
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2), sizes.end());
  if (units[largest.index()].elements <= k_larger * sizes[sizes.size() / 2]) return {};
  if (planned.partition.unit(largest).class_name(planned.graph) == planned.graph.block_class) return {};
  Finding finding = effect_finding(rule, facts, {{"parallel.wrap={policy: transformer}"}});
  finding.evidence = {evidence_of_key(facts, "parallel.wrap.policy"), evidence_of_unit(facts, largest)};
  return {finding};
}

Rule giant_remainder() {
  return {
      .id = "wrap/giant-remainder",
      .codes = {"X-02"},
      .title = "the size policy left a giant unit",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "a unit that is not a layer above 3 times the median (a proposal, to be tuned)",
      .source = "torch/distributed/fsdp/wrap.py (size_based_auto_wrap_policy)",
      .message = "A unit that is no layer is far larger than the others: what the size policy left over.",
      .explanation =
          "The policy wraps bottom-up what exceeds the minimum; what remains stays with the parent. With a "
          "minimum of 100 million elements Llama-2-7B keeps 2.1 billion in one unit.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.wrap.policy=transformer"},
              .text = "make every layer a unit"},
      .example = "--set parallel.wrap.policy=size --set parallel.wrap.min_params=100000000",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_remainder}},
  };
}

Rule no_units_minimum() {
  return {
      .id = "wrap/no-units-minimum",
      .codes = {"X-18"},
      .title = "a minimum of 0 wraps nothing",
      .severity = Severity::warning,
      .needs = {Need::files},
      .source = "accelerate/utils/dataclasses.py (FullyShardedDataParallelPlugin)",
      .message = "The size policy has a minimum of 0, which accelerate reads as no policy.",
      .explanation = "accelerate takes the policy only where the number is above 0.",
      .fix = {.kind = FixKind::settings, .text = "give a minimum, or the class of the layer"},
      .example = "fsdp_min_num_params: 0",
      .faults = {{.code = ErrorCode::wraps_nothing}},
  };
}

std::vector<Finding> check_padding(const Rule& rule, const Case& facts) {
  constexpr double k_much = 0.05;
  const StepPlan& plan = facts.job->planned->plan.steady;
  std::int64_t elements = 0, padded = 0;
  for (const PlanUnit& unit : plan.units) {
    elements += unit.elements;
    padded += std::max(unit.padded_elements, unit.elements);
  }
  const double share =
      elements > 0 ? static_cast<double>(padded - elements) / static_cast<double>(elements) : 0;
  if (share <= k_much || !gathers(plan)) return {};
  Finding finding = effect_finding(
      rule, facts,
      {{"parallel.mesh.replicate=2"}, {"parallel.mesh.replicate=2", "parallel.sharding=hybrid_shard"}});
  finding.message =
      fmt::format("{} of what is gathered is padding: parameters have fewer rows than there are ranks.",
                  share_words(share));
  finding.evidence = {evidence_of_figure(
      facts, "padding",
      fmt::format("{} elements beside {}", count_words(padded - elements), count_words(elements)))};
  return {finding};
}

Rule padding() {
  return {
      .id = "wrap/padding",
      .codes = {"X-13"},
      .title = "padding of short parameters",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "padded elements above 5 % (a proposal, to be tuned)",
      .source = "torch/distributed/fsdp/_fully_shard/_fsdp_param.py",
      .message = "Parameters whose first dimension is shorter than the number of ranks are padded.",
      .explanation =
          "FSDP2 splits along a dimension; rows below the world size leave ranks that hold padding alone.",
      .fix = {.kind = FixKind::settings,
              .text = "shard along another dimension, or fewer ways (parallel.mesh.replicate)"},
      .example = "512 ranks and norms of 128 elements",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_padding}},
  };
}

}  // namespace

std::vector<Rule> wrap_size_policy_rules() {
  return {giant_remainder(), no_units_minimum(), padding()};
}

}  // namespace shardlab
