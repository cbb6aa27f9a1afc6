// float16 and its scaler.
#include <string>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {
namespace {

std::vector<Finding> check_scale(const Rule& rule, const Case& facts) {
  const auto& seen = facts.log->no_scale;
  if (!seen) return {};
  Finding finding = finding_of(rule);
  finding.message =
      "The loss scale has fallen to nothing: gradients overflow in every step, and none is applied.";
  finding.certainty = 93;
  finding.position = seen->at.line;
  finding.evidence.push_back(evidence_of(facts, seen->at));
  return {finding};
}

// The first steps of a dynamic scale find it by overflowing.
std::vector<Finding> check_skipped_steps(const Rule& rule, const Case& facts) {
  constexpr double k_many = 0.1;
  constexpr std::int64_t k_search = 3;
  const RunSummary& run = *facts.job->measured;
  const auto steps = static_cast<double>(run.losses.size());
  if (run.skipped_steps <= k_search || static_cast<double>(run.skipped_steps) <= k_many * steps) return {};
  Finding finding = finding_of(rule);
  finding.message = fmt::format("{} of {} steps were skipped, because a scaled gradient was not finite.",
                                run.skipped_steps, run.losses.size());
  finding.evidence = {evidence_of_measurement(facts, "skipped steps", std::to_string(run.skipped_steps))};
  return {finding};
}

Rule float16_overflow() {
  return {
      .id = "precision/float16-overflow",
      .codes = {"A-15", "C-14"},
      .title = "float16 overflows",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::measurement, Need::log},
      .threshold = "loss scale at the minimum, or a loss that is not finite under float16",
      .source = "deepspeed/runtime/fp16/loss_scaler.py; torch/amp/grad_scaler.py",
      .message =
          "The loss scale fell to its minimum, or the loss became NaN under float16: gradients overflow in "
          "every step.",
      .explanation =
          "float16 ends at 65504. A scaler skips steps that overflow and halves the scale; where it reaches "
          "the minimum, no step is applied any more. bfloat16 has the range of float32.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.param=bfloat16"},
              .text = "use bfloat16 where the device has it; else look for the layer that overflows"},
      .example =
          "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
      .signs =
          {
              {.pattern = "current loss scale already at minimum", .certainty = 95},
              {.pattern = "loss scale already at minimum", .certainty = 95},
              {.pattern = "loss scale*minimum*cannot decrease", .certainty = 95},
              {.pattern = "minimum loss scale reached", .certainty = 95},
              {.pattern = "floatingpointerror: minimum loss scale", .certainty = 95},
              {.pattern = "gradients are overflowing*loss scale", .certainty = 80},
              {.pattern = "value cannot be converted to type at::half without overflow", .certainty = 93},
              {.pattern = "cannot be converted to type c10::half without overflow", .certainty = 93},
              {.pattern = "overflow*attempted loss scale: 1, reducing to 1", .certainty = 92},
              {.pattern = "overflow*skipping step*reducing to 1",
               .certainty = 60,
               .unless = {"reducing to 10", "reducing to 16", "reducing to 12"}},
              {.pattern = "overflow!*skipping step. attempted loss scale",
               .certainty = 40,
               .message =
                   "A step was skipped because gradients overflowed: normal while the loss scale settles.",
               .most = Severity::info},
              {.pattern = "overflow!*skipping step",
               .certainty = 38,
               .message =
                   "A step was skipped because gradients overflowed: normal while the loss scale settles.",
               .most = Severity::info},
              {.pattern = "gradient overflow.*skipping step",
               .certainty = 38,
               .message =
                   "A step was skipped because gradients overflowed: normal while the loss scale settles.",
               .most = Severity::info},
          },
      .checks = {{.needs = {Need::log}, .run = check_scale},
                 {.needs = {Need::measurement}, .run = check_skipped_steps}},
  };
}

std::vector<Finding> check_scaler(const Rule& rule, const Case& facts) {
  const JobFacts& job = *facts.job;
  if (job.planned->graph.compute_dtype != DType::float16 || job.scenario->scaler->enabled.value_or(true))
    return {};
  Finding finding = effect_finding(rule, facts, {{"scaler.enabled=true"}});
  finding.severity = Severity::error;  // small gradients vanish
  finding.evidence = {evidence_of_key(facts, "scaler.enabled")};
  return {finding};
}

Rule float16_without_scaler() {
  return {
      .id = "precision/float16-without-scaler",
      .codes = {"B-09"},
      .title = "float16 without a scaler",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "torch/distributed/fsdp/sharded_grad_scaler.py",
      .message = "Units compute in float16 and nothing scales the loss.",
      .explanation =
          "Small gradients vanish in float16 unless the loss is scaled: the sharded scaler in FSDP1, the "
          "plain one in FSDP2.",
      .fix = {.kind = FixKind::settings, .set = {"scaler.enabled=true"}, .text = "turn the scaler on"},
      .example = "--set precision.param=float16 --set scaler.enabled=false",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_scaler}},
  };
}

std::vector<Finding> check_float16(const Rule& rule, const Case& facts) {
  constexpr int k_has_bfloat16 = 80;
  const JobFacts& job = *facts.job;
  if (job.planned->graph.compute_dtype != DType::float16 || job.device->cuda_capability < k_has_bfloat16)
    return {};
  Finding finding = effect_finding(
      rule, facts, {{"precision.param=bfloat16"}, {"precision.param=bfloat16", "model.dtype=bfloat16"}});
  finding.evidence = {evidence_of_key(facts, "precision.param")};
  return {finding};
}

Rule float16_where_bfloat16() {
  return {
      .id = "precision/float16-where-bfloat16",
      .codes = {"B-10"},
      .title = "float16 on a device with bfloat16",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "compute capability 8.0 or later and float16",
      .source = "CUDA's table of compute capabilities",
      .message = "The device computes in bfloat16 as fast as in float16, without scaling.",
      .explanation = "Compute capability 8.0 and later have it.",
      .fix = {.kind = FixKind::settings, .set = {"precision.param=bfloat16"}, .text = "use bfloat16"},
      .example = "--set precision.param=float16 on an A100",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_float16}},
  };
}

Rule unscale_float16() {
  return {
      .id = "precision/unscale-float16",
      .codes = {"Y-12"},
      .title = "the scaler finds float16 gradients",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/amp/grad_scaler.py (_unscale_grads_)",
      .message = "A scaler unscales float32 gradients; parameters stored in float16 give float16 ones.",
      .explanation =
          "Under autocast parameters stay in float32 and only computation is float16. A model loaded in "
          "float16 has no float32 copy that a step could change a little.",
      .fix = {.kind = FixKind::settings,
              .set = {"model.dtype=float32", "precision.param=float16"},
              .text = "store parameters in float32, compute in float16"},
      .example = "ValueError: Attempting to unscale FP16 gradients.",
      .signs =
          {
              {.pattern = "attempting to unscale fp16 gradients", .certainty = 95},
              {.pattern = "attempting to unscale*gradients", .certainty = 93},
              {.pattern = "expected*fp16 gradients*unscale", .certainty = 70},
              {.pattern = "\"_amp_foreach_non_finite_check_and_unscale_cuda\" not implemented for 'bfloat16'",
               .certainty = 80},
              {.pattern = "_amp_foreach_non_finite_check_and_unscale*not implemented", .certainty = 80},
          },
  };
}

}  // namespace

std::vector<Rule> precision_half_rules() {
  return {float16_overflow(), float16_without_scaler(), float16_where_bfloat16(), unscale_float16()};
}

}  // namespace shardlab
