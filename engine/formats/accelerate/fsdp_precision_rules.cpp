#include "engine/formats/accelerate/accelerate_units.h"
#include "engine/formats/accelerate/fsdp_rules.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {
namespace {

using Instead = std::optional<std::string>;
using Subject = ExportSubject;

// The value that a dtype of the plugin has, where the scenario has another.
Instead unless_equal(const std::optional<DType>& scenario, DType plugin) {
  return scenario == plugin ? Instead() : Instead(to_string(plugin));
}

Instead stored(const Subject& s) {
  if (!is_fsdp(s) || !mixed_precision(s)) return std::nullopt;
  return unless_equal(s.scenario.model->dtype, DType::float32);
}

// One dtype stands for parameters, reduction, buffers and outputs.
Instead reduced(const Subject& s) {
  if (!is_fsdp(s)) return std::nullopt;
  return unless_equal(reduce_dtype(s), mixed_precision(s).value_or(s.scenario.model->dtype));
}

Instead buffers(const Subject& s) {
  const auto mixed = mixed_precision(s);
  if (framework(s) != Framework::fsdp1 || !mixed) return std::nullopt;
  return unless_equal(s.scenario.precision->buffer, *mixed);
}

Instead outputs(const Subject& s) {
  const auto mixed = mixed_precision(s);
  if (framework(s) != Framework::fsdp2 || !mixed) return std::nullopt;
  return unless_equal(s.scenario.precision->output, *mixed);
}

Instead autocast(const Subject& s) {
  const auto mixed = mixed_precision(s);
  return is_fsdp(s) && mixed ? unless_equal(s.scenario.precision->autocast, *mixed) : std::nullopt;
}

Instead kept_gradients(const Subject& s) {
  return s.scenario.precision->keep_low_precision_grads ? Instead("false") : std::nullopt;
}

Instead cast_inputs(const Subject& s) {
  const bool by_default = facts_of(s.scenario).casts_inputs_by_default;
  if (!is_fsdp(s) || s.scenario.precision->cast_forward_inputs.value_or(by_default) == by_default)
    return std::nullopt;
  return by_default ? "true" : "false";
}

bool checkpoints(const Subject& s) {
  return s.scenario.activation->checkpoint != ActivationCheckpoint::none;
}

// Outside FSDP the program checkpoints, or Trainer.
Instead whole_layers(const Subject& s) {
  const bool selective = s.scenario.activation->checkpoint == ActivationCheckpoint::selective;
  return is_fsdp(s) && selective ? Instead("full") : std::nullopt;
}

Instead every_layer(const Subject& s) {
  return is_fsdp(s) && checkpoints(s) && s.scenario.activation->every != 1 ? Instead("1") : std::nullopt;
}

// FSDP1 is wrapped first and checkpoints after, FSDP2 the other way round. Where no layer is a unit there is
// nothing to be inside or outside of.
Instead placement(const Subject& s) {
  const bool no_layer =
      policy_word(s) == "NO_WRAP" || (has_units_of_peft(s) && framework(s) == Framework::fsdp2);
  if (!is_fsdp(s) || !checkpoints(s) || no_layer) return std::nullopt;
  const auto made =
      framework(s) == Framework::fsdp1 ? CheckpointPlacement::inside : CheckpointPlacement::outside;
  return s.scenario.activation->placement == made ? Instead() : Instead(to_string(made));
}

Instead reentrant(const Subject& s) {
  return is_fsdp(s) && s.scenario.activation->reentrant ? Instead("false") : std::nullopt;
}

Instead activations_stay(const Subject& s) {
  const bool offloads = s.scenario.activation->offload != OffloadTarget::none;
  const bool sayable = framework(s) == Framework::fsdp2 && checkpoints(s);
  return is_fsdp(s) && offloads && !sayable ? Instead("none") : std::nullopt;
}

Instead parameters_stay(const Subject& s) {
  return is_fsdp(s) && s.scenario.offload->parameters == OffloadTarget::nvme ? Instead("cpu") : std::nullopt;
}

Instead optimizer_stays(const Subject& s) {
  if (!is_fsdp(s) || s.scenario.offload->optimizer == OffloadTarget::none) return std::nullopt;
  return s.scenario.offload->parameters == OffloadTarget::none ? Instead("none") : std::nullopt;
}

Instead pinned(const Subject& s) {
  return is_fsdp(s) && !s.scenario.offload->pin ? Instead("true") : std::nullopt;
}

Instead whole_ratio(const Subject& s) {
  return is_fsdp(s) && s.scenario.offload->ratio != 1 ? Instead("100%") : std::nullopt;
}

constexpr SettingRule k_precision_rules[] = {
    {"model.dtype", k_added, stored, "with mixed precision trained parameters are made float32 first"},
    {"precision.reduce", k_lost, reduced, "one word, mixed_precision, stands for every dtype"},
    {"precision.buffer", k_added, buffers, "one word, mixed_precision, stands for every dtype"},
    {"precision.output", k_added, outputs, "one word, mixed_precision, stands for every dtype"},
    {"precision.autocast", k_added, autocast, "torch.autocast is on beside FSDP's own casts"},
    {"precision.keep_low_precision_grads", k_lost, kept_gradients, "the plugin has no such option"},
    {"precision.cast_forward_inputs", k_lost, cast_inputs, "the plugin has no such option"},
    {"activation.checkpoint", k_lost, whole_layers, "layers are checkpointed whole"},
    {"activation.operators", k_lost, nullptr, {}},  // with activation.checkpoint
    {"activation.every", k_lost, every_layer, "every layer is checkpointed"},
    {"activation.placement", k_added, placement, "FSDP1 is checkpointed inside its units, FSDP2 around them"},
    {"activation.reentrant", k_lost, reentrant, "checkpoints are not reentrant"},
    {"activation.offload", k_lost, activations_stay, "only checkpointed layers of FSDP2 can be offloaded"},
    {"offload.parameters", k_lost, parameters_stay, "FSDP offloads to host memory alone"},
    {"offload.optimizer", k_lost, optimizer_stays, "FSDP offloads the optimizer with the parameters"},
    {"offload.pin", k_lost, pinned, "host memory is page-locked"},
    {"offload.ratio", k_lost, whole_ratio, "FSDP offloads all or nothing"},
    // Only DeepSpeed's offload has these settings.
    {"offload.buffers", k_lost, nullptr, {}},
    {"cluster.nvme.path", k_lost, nullptr, {}},
};

}  // namespace

std::span<const SettingRule> fsdp_precision_rules() {
  return k_precision_rules;
}

}  // namespace shardlab
