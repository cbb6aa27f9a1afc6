// Sums and copies that are kept in 16 bits.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

constexpr int k_many_terms = 64;

DType reduced_type(const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  return planned.scenario.precision->reduce.value_or(planned.graph.compute_dtype);
}

// Gradients that are added up in 16 bits for each parameter, of ranks and micro-steps; 0 where none are.
int terms_in_16_bit(const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  if (element_size(reduced_type(facts)) != 2 || !facts_of(planned.scenario).casts_units) return 0;
  return planned.plan.steady.world_size * micro_batches_of_step(planned.scenario);
}

// Whether it matters only a loss beside the float32 one tells.
std::vector<Finding> check_reduction(const Rule& rule, const Case& facts) {
  const int terms = terms_in_16_bit(facts);
  if (terms < 2 || terms > k_many_terms) return {};
  Finding finding = effect_finding(rule, facts, {{"precision.reduce=float32"}});
  finding.severity = Severity::info;
  finding.message = fmt::format("Gradients of {} ranks and micro-steps are reduced in {}.", terms,
                                to_string(reduced_type(facts)));
  finding.evidence = {evidence_of_key(facts, "precision.reduce")};
  return {finding};
}

Rule bfloat16_accuracy() {
  return {
      .id = "precision/bfloat16-accuracy",
      .codes = {"A-16"},
      .title = "reductions or buffers in bfloat16 cost accuracy",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction, Need::measurement},
      .threshold = "a 16-bit reduction of 16-bit gradients over several ranks; 64 terms and more are C-34",
      .source = "FSDP's MixedPrecision",
      .message = "Gradients are reduced, or buffers kept, in bfloat16.",
      .explanation =
          "Eight bits of mantissa: sums over many ranks lose small gradients. Reducing in float32 doubles "
          "the bytes of a reduce-scatter.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.reduce=float32", "precision.buffer=float32"},
              .text = "reduce in float32"},
      .example = "--set precision.reduce=bfloat16",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_reduction}},
  };
}

std::vector<Finding> check_buffers(const Rule& rule, const Case& facts) {
  if (facts.job->scenario->precision->buffer != DType::bfloat16) return {};
  Finding finding = effect_finding(rule, facts, {{"precision.buffer=float32"}});
  finding.severity = Severity::info;
  finding.evidence = {evidence_of_key(facts, "precision.buffer")};
  return {finding};
}

Rule bfloat16_buffers() {
  return {
      .id = "precision/bfloat16-buffers",
      .codes = {"B-11"},
      .title = "buffers in bfloat16",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "FSDP's MixedPrecision(buffer_dtype)",
      .message = "Buffers such as norm statistics and rotary tables are cast to bfloat16.",
      .explanation =
          "They are small and their values matter: positions beyond 256 are not exact in bfloat16.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.buffer=float32"},
              .text = "keep buffers in float32"},
      .example = "--set precision.buffer=bfloat16",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_buffers}},
  };
}

std::vector<Finding> check_sums(const Rule& rule, const Case& facts) {
  const int terms = terms_in_16_bit(facts);
  if (terms <= k_many_terms) return {};
  Finding finding = effect_finding(rule, facts, {{"precision.reduce=float32"}});
  finding.severity = Severity::info;
  finding.message = fmt::format("Gradients are summed in {} over {} ranks and micro-steps.",
                                to_string(reduced_type(facts)), terms);
  finding.evidence = {evidence_of_key(facts, "precision.reduce")};
  return {finding};
}

Rule sums_in_16_bit() {
  return {
      .id = "precision/sums-in-16-bit",
      .codes = {"C-34"},
      .title = "long sums in 16 bits",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold =
          "world size times micro-steps above 64 and a 16-bit reduction or accumulation (a proposal, to be "
          "tuned)",
      .source = "the format of bfloat16",
      .message = "Gradients are summed in 16 bits over many ranks and micro-steps.",
      .explanation = "A sum in bfloat16 stops growing where a term is below 1/256 of it.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.reduce=float32"},
              .text = "accumulate and reduce in float32"},
      .example = "--set precision.reduce=bfloat16 on 128 ranks",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_sums}},
  };
}

std::vector<Finding> check_zero_accumulation(const Rule& rule, const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  const StrategyFacts& strategy = facts_of(planned.scenario);
  if (strategy.framework != Framework::deepspeed || strategy.zero_stage == 0) return {};
  if (micro_batches_of_step(planned.scenario) < 2 || element_size(planned.graph.compute_dtype) != 2)
    return {};
  if (zero_options(planned.scenario).grad_accum_dtype == DType::float32) return {};
  Finding finding = effect_finding(rule, facts, {{"parallel.zero.grad_accum_dtype=fp32"}});
  finding.severity = Severity::info;
  finding.evidence = {evidence_of_key(facts, "parallel.zero.grad_accum_dtype"),
                      evidence_of_key(facts, "train.accumulation")};
  return {finding};
}

Rule zero_accumulation() {
  return {
      .id = "precision/zero-accumulation",
      .codes = {"X-11"},
      .title = "ZeRO-2 accumulates in bfloat16",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "deepspeed/runtime/config.py (data_types.grad_accum_dtype)",
      .message = "Gradients are accumulated in the compute type.",
      .explanation =
          "DeepSpeed's grad_accum_dtype is the compute type by default; float32 costs 2 bytes an element of "
          "the partition.",
      .fix = {.kind = FixKind::settings, .text = "set data_types.grad_accum_dtype to fp32"},
      .example = "a DeepSpeed configuration with bf16 and accumulation, without data_types",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction},
                  .run = check_zero_accumulation}},
  };
}

std::vector<Finding> check_master(const Rule& rule, const Case& facts) {
  const Scenario& scenario = *facts.job->scenario;
  if (!facts_of(scenario).gathers_units || scenario.model->dtype != DType::bfloat16) return {};
  if (trainable_parameters(facts.job->planned->graph) < total_parameters(facts.job->planned->graph))
    return {};
  Finding finding = effect_finding(rule, facts, {{"model.dtype=float32", "precision.param=bfloat16"}});
  finding.severity = Severity::info;
  finding.evidence = {evidence_of_key(facts, "model.dtype")};
  return {finding};
}

Rule no_float32_master() {
  return {
      .id = "precision/no-float32-master",
      .codes = {"X-04"},
      .title = "no float32 copy of the parameters",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "FSDP's documentation of MixedPrecision",
      .message =
          "Parameters are stored in 16 bits, and the optimizer's states with them: small updates may vanish.",
      .explanation = "FSDP keeps what the model was loaded in; nothing upcasts.",
      .fix = {.kind = FixKind::settings,
              .set = {"model.dtype=float32"},
              .text = "load in float32 and compute in bfloat16"},
      .example = "--set model.dtype=bfloat16",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_master}},
  };
}

}  // namespace

std::vector<Rule> precision_low_precision_sums_rules() {
  return {bfloat16_accuracy(), bfloat16_buffers(), sums_in_16_bit(), zero_accumulation(),
          no_float32_master()};
}

}  // namespace shardlab
