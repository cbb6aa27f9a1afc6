// Steps that are too large.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule learning_rate() {
  return {
      .id = "numerics/learning-rate",
      .codes = {"C-11"},
      .title = "the learning rate is too high",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::measurement},
      .threshold = "the loss rises before NaN; no warm-up steps",
      .source = "common practice; the optimizer's formula",
      .message = "The loss rises before it becomes NaN, and there is no warm-up.",
      .explanation =
          "Without warm-up Adam's first steps are as large as the learning rate in every coordinate.",
      .fix = {.kind = FixKind::settings,
              .text = "lower train.learning_rate, or warm up over some hundred steps (train.schedule)"},
      .example = "--set train.learning_rate=1e-2",
  };
}

Rule exploding_gradients() {
  return {
      .id = "numerics/exploding-gradients",
      .codes = {"C-15"},
      .title = "gradients explode",
      .severity = Severity::warning,
      .needs = {Need::measurement},
      .threshold = "norm above 10 times the running median (a proposal, to be tuned)",
      .source = "torch.nn.utils.clip_grad_norm_",
      .message = "The norm of the gradients is far above its median.",
      .explanation = "A few bad batches can move the model far; clipping bounds the step.",
      .fix = {.kind = FixKind::settings, .set = {"train.clip_norm=1.0"}, .text = "clip by norm"},
      .example = "a gradient norm of 312 where the median is 1.4",
  };
}

}  // namespace

std::vector<Rule> numerics_large_steps_rules() {
  return {learning_rate(), exploding_gradients()};
}

}  // namespace shardlab
