// Weights that several modules or kinds of parameters share a unit with.
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/strategy_settings.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Under FSDP1 a frozen parameter gets a gradient where one of its flat parameter is trained.
std::vector<Finding> check_frozen(const Rule& rule, const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  if (facts_of(planned.scenario).framework != Framework::fsdp1) return {};
  for (std::size_t i = 0; i < planned.partition.units.size(); ++i) {
    const Unit& unit = planned.partition.units[i];
    bool trained = false, frozen = false;
    for (const ParameterId id : unit.parameters)
      (planned.graph.parameter(id).trainable ? trained : frozen) = true;
    if (!trained || !frozen || unit.teacher) continue;
    Finding finding = effect_finding(rule, facts, strategy_settings(Framework::fsdp2));
    finding.evidence = {evidence_of_key(facts, "parallel.strategy"),
                        evidence_of_unit(facts, make_id<UnitId>(i))};
    return {finding};
  }
  return {};
}

Rule frozen_cost_gradients() {
  return {
      .id = "wrap/frozen-cost-gradients",
      .codes = {"X-21"},
      .title = "frozen parameters cost gradients",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "torch/distributed/fsdp/_flat_param.py",
      .message = "Trainable and frozen parameters share a unit of FSDP1: gradients are reduced for both.",
      .explanation = "The flat gradient has the size of the whole unit.",
      .fix = {.kind = FixKind::settings, .text = "make units of one kind, or use FSDP2"},
      .example = "adapters inside the units of a frozen base",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_frozen}},
  };
}

Rule tied_weights() {
  return {
      .id = "wrap/tied-weights",
      .codes = {"X-14"},
      .title = "tied weights are split over units",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::plan, Need::log},
      .source = "FSDP's documentation of shared parameters; accelerate's check of tied parameters",
      .message = "A weight that two modules share is in two units.",
      .explanation =
          "Each unit shards and frees its own parameters; a shared one is then sharded twice, or read when "
          "it is freed.",
      .fix = {.kind = FixKind::settings,
              .text = "put the modules that share it in one unit (parallel.wrap.together)"},
      .example =
          "RuntimeError: Some tensors share memory, this will lead to duplicate memory on disk: "
          "[{'lm_head.weight', 'model.embed_tokens.weight'}]",
      .signs =
          {
              {.pattern = "is shared with a parameter already managed by another fsdp group",
               .certainty = 92},
              {.pattern = "parameters that share storage*different*module", .certainty = 80},
              {.pattern = "shared parameters*fsdp*same", .certainty = 80},
              {.pattern = "some tensors share memory", .certainty = 70},
              {.pattern = "weights tied*fsdp", .certainty = 60},
              {.pattern = "shared tensors*mismatching the transformers base configuration", .certainty = 70},
              {.pattern = "flatparameter*shared across*module", .certainty = 65},
          },
  };
}

}  // namespace

std::vector<Rule> wrap_tied_weights_rules() {
  return {frozen_cost_gradients(), tied_weights()};
}

}  // namespace shardlab
