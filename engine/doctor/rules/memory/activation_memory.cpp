// Activations: what forward keeps for backward.
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/plan/unit_sizes.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

std::vector<Finding> check_activations(const Rule& rule, const Case& facts) {
  const ActivationSpec& activation = *facts.job->scenario->activation;
  if (!lacks_memory(facts)) return {};
  std::vector<std::vector<std::string>> levels;
  if (activation.checkpoint != ActivationCheckpoint::full)
    levels = {{"activation.checkpoint=full"}};
  else if (activation.every > 1)
    levels = {{"activation.every=1"}};
  else
    return {};
  Finding finding =
      memory_finding(rule, facts, MemoryCause::activations, {{RemedyStep::checkpointing, std::move(levels)}});
  finding.evidence.push_back(evidence_of_key(facts, "activation.checkpoint"));
  return {finding};
}

Rule activations_dominate() {
  return {
      .id = "memory/activations-dominate",
      .codes = {"A-05", "B-12", "C-04", "D-08"},
      .title = "activations dominate the peak",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::prediction, Need::log},
      .threshold = "activations above 50 % of the predicted peak (a proposal, to be tuned)",
      .source = "shardlab's prediction",
      .message = "Memory ran out in forward or backward of a layer, where activations are what grows.",
      .explanation =
          "Checkpointing keeps the input of a layer and computes the rest again in backward: about a fifth "
          "more time. The wrapper for it lives in "
          "torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py.",
      .fix = {.kind = FixKind::settings,
              .set = {"activation.checkpoint=full"},
              .text = "turn on activation checkpointing, inside the units"},
      .example =
          "File \"transformers/models/llama/modeling_llama.py\", line 240, in "
          "forward\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
      .signs =
          {
              {.pattern = "out of memory", .certainty = 66, .frame = "modeling_*in forward"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "modeling_*in forward"},
              {.pattern = "out of memory", .certainty = 66, .frame = "attention*in forward"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "attention*in forward"},
              {.pattern = "out of memory", .certainty = 66, .frame = "torch/nn/functional.py*in softmax"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "torch/nn/functional.py*in softmax"},
              {.pattern = "out of memory", .certainty = 66, .frame = "in scaled_dot_product_attention"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "in scaled_dot_product_attention"},
              {.pattern = "out of memory", .certainty = 66, .frame = "flash_attn"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "flash_attn"},
              {.pattern = "out of memory", .certainty = 66, .frame = "in recompute_fn"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "in recompute_fn"},
              {.pattern = "out of memory", .certainty = 66, .frame = "checkpoint.py*in backward"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "checkpoint.py*in backward"},
              {.pattern = "out of memory", .certainty = 66, .frame = "mlp*in forward"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "mlp*in forward"},
              {.pattern = "out of memory", .certainty = 66, .frame = "in eager_attention_forward"},
              {.pattern = "outofmemoryerror", .certainty = 66, .frame = "in eager_attention_forward"},
          },
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_activations}},
  };
}

// On processors float32 is what computes fastest.
std::vector<Finding> check_float32(const Rule& rule, const Case& facts) {
  const JobFacts& job = *facts.job;
  if (!is_on_gpus(facts) || job.planned->graph.compute_dtype != DType::float32) return {};
  std::vector<std::string> settings = {"precision.param=bfloat16"};
  if (facts_of(*job.scenario).casts_units) settings.push_back("precision.reduce=float32");
  Finding finding = lacks_memory(facts)
                        ? memory_finding(rule, facts, std::nullopt, {{RemedyStep::lower_types, {settings}}})
                        : speed_finding(rule, facts, {settings});
  finding.message = rule.message;
  finding.evidence = {evidence_of_key(facts, "precision.param")};
  return {finding};
}

Rule float32_activations() {
  return {
      .id = "memory/float32-activations",
      .codes = {"C-05"},
      .title = "activations are kept in float32",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::prediction},
      .source = "torch.amp; FSDP's MixedPrecision",
      .message = "No mixed precision is set: activations are kept in float32.",
      .explanation =
          "A 16-bit compute type halves what forward keeps, and is faster on devices with matrix units for "
          "it.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.param=bfloat16"},
              .text = "compute in bfloat16, keep states in float32"},
      .example = "--set precision.param=float32",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_float32}},
  };
}

std::vector<Finding> check_third_gather(const Rule& rule, const Case& facts) {
  const StepPlan& plan = facts.job->planned->plan.steady;
  if (facts.job->scenario->activation->checkpoint == ActivationCheckpoint::none) return {};
  const std::vector<int> times = times_gathered(plan);
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    if (times[i] <= 2 * plan.micro_batches) continue;
    const auto id = make_id<UnitId>(i);
    Finding finding =
        effect_finding(rule, facts, {{"activation.placement=inside"}, {"activation.reentrant=false"}});
    finding.evidence = {evidence_of_key(facts, "activation.placement"), evidence_of_unit(facts, id)};
    return {finding};
  }
  return {};
}

Rule checkpoint_outside_unit() {
  return {
      .id = "memory/checkpoint-outside-unit",
      .codes = {"X-05"},
      .title = "a third all-gather of every unit",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::files, Need::plan, Need::prediction},
      .source = "torch/utils/checkpoint.py; FSDP's hooks",
      .message =
          "Reentrant checkpointing stands outside the unit: its parameters are gathered three times a step.",
      .explanation =
          "Recomputation inside the unit finds the parameters that its backward gathers; outside of it the "
          "unit gathers for the recomputation and again for its gradient.",
      .fix = {.kind = FixKind::settings,
              .set = {"activation.placement=inside"},
              .text = "put the checkpoint inside the unit, or use the non-reentrant form"},
      .example = "--set activation.placement=outside --set activation.reentrant=true",
      .faults = {{.code = ErrorCode::gathers_once_more, .most = Severity::info}},
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_third_gather}},
  };
}

}  // namespace

std::vector<Rule> memory_activation_memory_rules() {
  return {activations_dominate(), float32_activations(), checkpoint_outside_unit()};
}

}  // namespace shardlab
