// Steps that are too large.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_many_spikes = 3;
constexpr int k_certainty = 66;

Finding rising_loss(const Rule& rule, const Rise& rise, bool before_nan) {
  Finding finding = finding_of(rule);
  finding.certainty = k_certainty;
  finding.message = fmt::format("The loss rose from {:.3g} to {:.3g}{}: steps are too large.", rise.best,
                                rise.now, before_nan ? " before it became NaN" : ", and did not come back");
  return finding;
}

std::vector<Finding> check_rise_in_log(const Rule& rule, const Case& facts) {
  const auto& seen = facts.log->rise;
  if (!seen) return {};
  Finding finding = rising_loss(rule, seen->rise, seen->before_nan);
  finding.position = seen->at.line;
  finding.evidence = {evidence_of(facts, seen->at)};
  return {finding};
}

std::vector<Finding> check_rise_in_run(const Rule& rule, const Case& facts) {
  LossTrack track;
  for (const double loss : facts.job->measured->losses) {
    if (!std::isfinite(loss)) break;
    track.take(loss);
  }
  const auto rise = track.rise();
  if (!rise) return {};
  const auto& losses = facts.job->measured->losses;
  const bool ends =
      std::all_of(losses.begin(), losses.end(), [](double loss) { return std::isfinite(loss); });
  Finding finding = rising_loss(rule, *rise, !ends);
  finding.evidence = {evidence_of_measurement(facts, "loss", fmt::format("{} steps", losses.size())),
                      evidence_of_key(facts, "train.learning_rate")};
  return {finding};
}

// One batch may be bad; several, or one after which the loss is lost, are more.
Finding spikes(const Rule& rule, const Spike& first, std::int64_t count, bool loss_is_lost) {
  Finding finding = finding_of(rule);
  finding.certainty = k_certainty - 2;
  finding.severity = count >= k_many_spikes || loss_is_lost ? Severity::warning : Severity::info;
  finding.message =
      fmt::format("The norm of the gradients was {:.3g} where its median is {:.3g}{}.", first.norm,
                  first.median, count > 1 ? fmt::format(", and that {} times", count) : "");
  return finding;
}

std::vector<Finding> check_spikes_in_log(const Rule& rule, const Case& facts) {
  const auto& seen = facts.log->spike;
  if (!seen) return {};
  Finding finding = spikes(rule, seen->spike, seen->count, facts.log->not_finite || facts.log->rise);
  finding.position = seen->at.line;
  finding.evidence = {evidence_of(facts, seen->at)};
  return {finding};
}

std::vector<Finding> check_spikes_in_run(const Rule& rule, const Case& facts) {
  NormTrack track;
  std::optional<Spike> first;
  std::size_t step = 0, at = 0;
  for (const double norm : facts.job->measured->gradient_norms) {
    const auto spike = track.take(norm);
    if (spike && !first) {
      first = spike;
      at = step;
    }
    ++step;
  }
  if (!first) return {};
  const auto& losses = facts.job->measured->losses;
  const bool lost =
      std::any_of(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
  Finding finding = spikes(rule, *first, track.spikes(), lost);
  finding.evidence = {
      evidence_of_measurement(facts, "gradient norm", fmt::format("{:.4g} in step {}", first->norm, at))};
  return {finding};
}

Rule learning_rate() {
  return {
      .id = "numerics/learning-rate",
      .codes = {"C-11"},
      .title = "the learning rate is too high",
      .severity = Severity::warning,
      .needs = {Need::measurement, Need::log},
      .threshold =
          "four losses in a row 30 % above the best mean of four or at twice the first, at the end or before "
          "NaN (proposals, to be "
          "tuned)",
      .source = "common practice; the optimizer's formula",
      .message = "The loss rises, or did before it became NaN.",
      .explanation =
          "Without warm-up Adam's first steps are as large as the learning rate in every coordinate.",
      .fix = {.kind = FixKind::settings,
              .text = "lower train.learning_rate, or warm up over some hundred steps (train.schedule)"},
      .example =
          "loss: 3.10\n"
          "loss: 2.90\n"
          "loss: 2.70\n"
          "loss: 2.60\n"
          "loss: 3.90\n"
          "loss: 4.40\n"
          "loss: 5.20\n"
          "loss: 6.80\n"
          "loss: nan\n",
      .checks = {{.needs = {Need::log}, .run = check_rise_in_log},
                 {.needs = {Need::measurement}, .run = check_rise_in_run}},
  };
}

Rule exploding_gradients() {
  return {
      .id = "numerics/exploding-gradients",
      .codes = {"C-15"},
      .title = "gradients explode",
      .severity = Severity::warning,
      .needs = {Need::measurement, Need::log},
      .threshold =
          "norm above 10 times the running median, three times or before the loss is lost (proposals, to be "
          "tuned)",
      .source = "torch.nn.utils.clip_grad_norm_",
      .message = "The norm of the gradients is far above its median.",
      .explanation = "A few bad batches can move the model far; clipping bounds the step.",
      .fix = {.kind = FixKind::settings, .set = {"train.clip_norm=1.0"}, .text = "clip by norm"},
      .example =
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 1.4\n"
          "grad_norm: 312\n"
          "grad_norm: 288\n"
          "grad_norm: 401\n",
      .checks = {{.needs = {Need::log}, .run = check_spikes_in_log},
                 {.needs = {Need::measurement}, .run = check_spikes_in_run}},
  };
}

}  // namespace

std::vector<Rule> numerics_large_steps_rules() {
  return {learning_rate(), exploding_gradients()};
}

}  // namespace shardlab
