#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/scenario/offload_spec.h"

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr std::string_view k_inside = R"py(

def checkpoint_layers(model):
    """What a layer computes is computed again in backward, from its inputs alone."""
    layers = [module for module in model.modules() if type(module).__name__ == "@CLASS@"]
    for layer in layers@EVERY@:
        layer.forward = functools.partial(checkpoint, layer.forward, use_reentrant=False)
)py";

// FSDP's hooks are within what is computed again: the unit is gathered once more.
constexpr std::string_view k_outside = R"py(

def checkpoint_layers(model):
    """Around the units, so that computing them again gathers them once more."""
    layers = [module for module in model.modules() if @IS_LAYER@]
    chosen = set(layers@EVERY@)
    apply_activation_checkpointing(model, check_fn=lambda module: module in chosen)
)py";

// FSDP2 changes the class of a unit.
std::string is_layer(const ExportSubject& subject) {
  const std::string& layer = subject.graph.block_class;
  if (framework(subject) == Framework::fsdp1)
    return fmt::format("isinstance(module, FSDP) and type(module.module).__name__ == \"{}\"", layer);
  return fmt::format("type(module).__name__ in (\"{0}\", \"FSDP{0}\")", layer);
}

bool checkpoints(const ExportSubject& subject) {
  return subject.scenario.activation->checkpoint != ActivationCheckpoint::none;
}

}  // namespace

bool checkpoints_outside(const ExportSubject& subject) {
  return is_fsdp(subject) && checkpoints(subject) &&
         subject.scenario.activation->placement == CheckpointPlacement::outside;
}

bool checkpoints_inside(const ExportSubject& subject) {
  return checkpoints(subject) && !checkpoints_outside(subject);
}

std::string script_checkpointing(const ExportSubject& subject) {
  if (!checkpoints(subject)) return {};
  const int every = subject.scenario.activation->every;
  const std::string chosen = every == 1 ? "" : fmt::format("[{}::{}]", every - 1, every);
  return filled(checkpoints_outside(subject) ? k_outside : k_inside,
                {{"CLASS", subject.graph.block_class}, {"EVERY", chosen}, {"IS_LAYER", is_layer(subject)}});
}

}  // namespace shardlab
