#include "engine/base/parse.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

const Keys<ScheduleSpec>& schedule_keys() {
  using S = ScheduleSpec;
  static const Keys<S> keys{
      key("kind", &S::kind, kind::word<ScheduleKind>(), "how the learning rate falls after the warm-up"),
      key("warmup_steps", &S::warmup_steps, kind::integer(0), "steps of linear rise from 0"),
      only_with("kind", {ScheduleKind::linear, ScheduleKind::cosine},
                key("total_steps", &S::total_steps, kind::integer(1), "step at which the learning rate is 0",
                    "required")),
  };
  return keys;
}

const Keys<EvaluationSpec>& evaluation_keys() {
  static const Keys<EvaluationSpec> keys{
      key("every", &EvaluationSpec::every, kind::integer(0), "steps between evaluations; 0: never"),
      key("batches", &EvaluationSpec::batches, kind::integer(1), "micro-batches of one evaluation"),
  };
  return keys;
}

const Keys<SaveSpec>& save_keys() {
  static const Keys<SaveSpec> keys{
      key("every", &SaveSpec::every, kind::integer(0), "steps between checkpoints; 0: never"),
      key("keep", &SaveSpec::keep, kind::integer(1), "checkpoints kept"),
  };
  return keys;
}

using Betas = std::array<double, 2>;

Kind<Betas> betas_kind() {
  return {
      "two numbers", "0 or more and less than 1",
      [](const YamlNode& node, std::string_view) -> Result<Betas> {
        if (!node.is_sequence() || node.items.size() != 2)
          return bad_input({}, "expected a list of two numbers", "for example [0.9, 0.95]");
        Betas betas{};
        for (std::size_t i = 0; i < betas.size(); ++i) {
          SHARDLAB_TRY(const std::string text, kind::bare_text(node.items[i], "a number"));
          SHARDLAB_TRY(betas[i], parse_number(text));
          if (betas[i] < 0 || betas[i] >= 1)
            return bad_input(node.items[i].place, text + " is out of range",
                             "allowed: 0 or more and less than 1");
        }
        return betas;
      },
      [](const Betas& betas) {
        return yaml_sequence({yaml_scalar(format_number(betas[0])), yaml_scalar(format_number(betas[1]))});
      }};
}

}  // namespace

const Keys<TrainSpec>& train_keys() {
  using S = TrainSpec;
  using O = Optimizer;
  const std::initializer_list<O> adaptive{O::adamw, O::adam, O::adamw_8bit, O::adafactor};
  static const Keys<S> keys{
      key("micro_batch", &S::micro_batch, kind::integer(1, 1 << 20), "sequences of one rank in one forward"),
      key("accumulation", &S::accumulation, kind::integer(1, 1 << 20),
          "micro-batches of one step; refused where its plan has more than 1,000,000 instructions and "
          "buffers, "
          "which take up to 8 GiB (`search` predicts longer steps from short ones)"),
      key("sync", &S::sync, kind::word<GradientSync>(), "which micro-batches reduce their gradients"),
      key("optimizer", &S::optimizer, kind::word<Optimizer>(), "the update rule"),
      key("optimizer_implementation", &S::optimizer_implementation, kind::word<OptimizerImplementation>(),
          "how torch runs it"),
      key("optimizer_in_backward", &S::optimizer_in_backward, kind::boolean(),
          "each module is updated within backward, as soon as its gradients are there, which are dropped "
          "then"),
      only_with("optimizer", {O::adamw, O::adam, O::adamw_8bit},
                key("optimizer_paged", &S::optimizer_paged, kind::boolean(),
                    "its state lies in managed memory, which the driver moves to the host where the device "
                    "is full (bitsandbytes' paged optimizers)")),
      key("learning_rate", &S::learning_rate, kind::number(0, 1000), "after the warm-up"),
      only_with("optimizer", adaptive, key("betas", &S::betas, betas_kind(), "decay of the two moments")),
      only_with("optimizer", adaptive,
                key("epsilon", &S::epsilon, kind::number(0, 1), "added to the root of the second moment")),
      key("weight_decay", &S::weight_decay, kind::number(0, 1000),
          "decoupled under adamw, added to the gradient under adam and sgd"),
      only_with("optimizer", {O::sgd}, key("momentum", &S::momentum, kind::number(0, 1), "of the gradient")),
      section("schedule", &S::schedule, &schedule_keys, "kind"),
      key("clip_norm", &S::clip_norm, kind::optional(kind::number(0, 1e30, true)),
          "scale gradients down to this norm over all parameters", "none"),
      key("clip_value", &S::clip_value, kind::optional(kind::number(0, 1e30, true)),
          "clamp each element of the gradients", "none"),
      key("nan_check", &S::nan_check, kind::boolean(),
          "stop when the loss or the gradient norm is not finite"),
      key("seed", &S::seed, kind::long_integer(0), "of weights and of the order of the data"),
      key("data", &S::data, kind::texts(),
          "text files (bytes are tokens) or .bin files (uint16 tokens); needed by a real run"),
      key("order", &S::order, kind::word<DataOrder>(), "of the sequences in the data"),
      key("data_workers", &S::data_workers, kind::integer(0, 1024), "processes that prepare batches"),
      key("pin_batches", &S::pin_batches, kind::boolean(), "batches in page-locked memory"),
      section("evaluation", &S::evaluation, &evaluation_keys),
      key("epochs", &S::epochs, kind::integer(0), "passes over the data; 0: not given"),
      key("steps", &S::steps, kind::integer(0),
          "steps of a training; 0: measure.warmup_steps + measure.steps"),
      section("save", &S::save, &save_keys),
  };
  return keys;
}

}  // namespace shardlab
