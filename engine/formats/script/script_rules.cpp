#include <fmt/format.h>

#include "engine/formats/script/script_places.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

using Instead = std::optional<std::string>;
using Subject = ExportSubject;

Instead if_not(bool same, const char* instead) {
  return same ? Instead() : Instead(instead);
}

constexpr std::string_view k_not_written = "programs with it are not written yet";
constexpr std::string_view k_no_files = "the program keeps no checkpoints";

Instead saved(const Subject& s) {
  const bool given = s.scenario.train->save.every > 0 || !s.scenario.checkpoint->path.empty();
  return given ? Instead("torch.distributed.checkpoint.save() of get_state_dict(), in the loop of main()")
               : Instead();
}

Instead resumed(const Subject& s) {
  return s.scenario.checkpoint->resume.empty()
             ? Instead()
             : Instead("torch.distributed.checkpoint.load(), before the loop of main()");
}

Instead evaluated(const Subject& s) {
  return s.scenario.train->evaluation.every == 0 ? Instead() : Instead("an evaluation in the loop of main()");
}

Instead environment(const Subject& s) {
  std::string lines;
  for (const auto& [name, value] : s.scenario.launch->environment)
    lines += fmt::format("{}export {}={}", lines.empty() ? "" : "; ", name, value);
  return lines.empty() ? Instead() : Instead(lines);
}

Instead allocator(const Subject& s) {
  const std::string& conf = s.scenario.cluster->allocator_conf;
  return conf.empty() ? Instead() : Instead("export PYTORCH_ALLOC_CONF=" + conf);
}

bool is_fsdp1(const Subject& s) {
  return framework(s) == Framework::fsdp1;
}

constexpr SettingRule lost(std::string_view setting, RunsInstead instead) {
  return {setting, k_lost, instead, k_not_written};
}

constexpr SettingRule k_rules[] = {
    {"model.attention", k_lost,
     [](const Subject& s) {
       const AttentionKind kind = s.scenario.model->attention;
       return if_not(kind == AttentionKind::automatic || kind == AttentionKind::eager, "auto");
     },
     "the model calls scaled_dot_product_attention, which chooses"},
    lost("model.loss.kind",
         [](const Subject& s) { return if_not(s.scenario.model->loss.kind == LossKind::plain, "plain"); }),
    lost("model.loss.fused", [](const Subject& s) { return if_not(!s.scenario.model->loss.fused, "false"); }),
    lost("model.loss.held_logits",
         [](const Subject& s) { return if_not(!s.scenario.model->loss.held_logits, "none"); }),
    lost("model.loss.upcast", [](const Subject& s) { return if_not(s.scenario.model->loss.upcast, "true"); }),
    lost("model.loss.shift",
         [](const Subject& s) {
           return if_not(s.scenario.model->loss.shift == LossShift::of_labels, "labels");
         }),
    lost("model.dropout",
         [](const Subject& s) { return if_not(!s.scenario.model->dropout, "what config.json says"); }),
    lost("model.compile",
         [](const Subject& s) { return if_not(s.scenario.model->compile == CompileScope::none, "none"); }),
    lost("model.fp8",
         [](const Subject& s) { return if_not(s.scenario.model->fp8 == Fp8Scaling::none, "none"); }),
    lost("model.quantized",
         [](const Subject& s) { return if_not(s.scenario.model->quantized == Quantization::none, "none"); }),
    lost("model.moe.auxiliary_loss",
         [](const Subject& s) { return if_not(!s.scenario.model->moe.auxiliary_loss, "none"); }),
    lost("parallel.wrap.overrides",
         [](const Subject& s) {
           return if_not(!is_fsdp1(s) || s.scenario.parallel->wrap.overrides.empty(), "[]");
         }),
    lost("activation.checkpoint",
         [](const Subject& s) {
           return if_not(s.scenario.activation->checkpoint != ActivationCheckpoint::selective, "full");
         }),
    lost("activation.reentrant",
         [](const Subject& s) { return if_not(!s.scenario.activation->reentrant, "false"); }),
    lost("activation.offload",
         [](const Subject& s) {
           return if_not(s.scenario.activation->offload == OffloadTarget::none, "none");
         }),
    lost("train.optimizer_in_backward",
         [](const Subject& s) { return if_not(!s.scenario.train->optimizer_in_backward, "false"); }),
    {"train.evaluation", k_elsewhere, evaluated, "a line of yours"},
    {"checkpoint.path", k_elsewhere, saved, k_no_files},
    {"checkpoint.resume", k_elsewhere, resumed, k_no_files},
    {"launch.env", k_elsewhere, environment, "of the shell that starts the ranks"},
    {"cluster.allocator.conf", k_elsewhere, allocator, "of the shell that starts the ranks"},
    // Parts of what is said above, and what is about predicting alone.
    {"model", k_elsewhere, nullptr, {}},
    {"distillation", k_elsewhere, nullptr, {}},
    {"checkpoint", k_elsewhere, nullptr, {}},
    {"train", k_elsewhere, nullptr, {}},
    {"cluster", k_elsewhere, nullptr, {}},
    {"launch", k_elsewhere, nullptr, {}},
};

}  // namespace

std::span<const SettingRule> script_rules() {
  return k_rules;
}

}  // namespace shardlab
