#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/formats/script/script_units.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_fsdp2_shard = R"py(

def shard(model):
    """Units from the inside out: each is gathered before it runs, and its gradients are reduced as one."""
@COMMON@@UNITS@    fully_shard(model, **@ROOT@)
@PREFETCH@@FILL@    return model
)py";

constexpr std::string_view k_fill = R"py(

def fill_from_rank0(model, whole):
    """Everything so far had shapes alone. Rank 0 sends the values; `whole` is its model, of the others None."""
    model.to_empty(device=@PLACE@)
    if model.config.tie_word_embeddings:
        model.tie_weights()
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(model, whole.state_dict() if whole else {}, options=options)
    values = dict(whole.named_buffers()) if whole else {}
    for name, buffer in model.named_buffers():
        if whole:
            buffer.copy_(values[name])
        dist.broadcast(buffer, 0)
    gc.collect()  # what was sent hangs in cycles and would go at some later step
)py";

// What the constructor of the policy is given; nothing of what it takes by default.
std::string policy_of(const ExportSubject& subject, const UnitPrecision& precision) {
  const DType stored = subject.scenario.model->dtype;
  const bool plain = precision.param == stored && precision.reduce == precision.param && !precision.output;
  if (plain) return {};
  return fmt::format(
      "MixedPrecisionPolicy({})",
      joined_arguments(
          {precision.param == stored ? "" : "param_dtype=" + torch_dtype(precision.param),
           precision.reduce == precision.param ? "" : "reduce_dtype=" + torch_dtype(precision.reduce),
           precision.output ? "output_dtype=" + torch_dtype(*precision.output) : "",
           precision.cast_inputs || precision.param == stored ? "" : "cast_forward_inputs=False"}));
}

std::string reshard_of(const ReshardAfterForward& reshard, bool is_root) {
  if (reshard.kind == ReshardKind::to_ranks) return fmt::format("{}", reshard.ranks);
  return python_bool(reshard.frees(is_root));
}

// Arguments of fully_shard() that differ from unit to unit.
std::string settings_of(const ExportSubject& subject, const UnitSettings& settings, bool is_root) {
  const std::string policy = policy_of(subject, settings.precision);
  return joined_arguments({"reshard_after_forward=" + reshard_of(settings.reshard_after_forward, is_root),
                           policy.empty() ? "" : "mp_policy=" + policy});
}

std::string mesh_line(const ExportSubject& subject) {
  const ResolvedMesh mesh = resolve_mesh(subject.scenario);
  if (mesh.replicate == 1) return "init_device_mesh(DEVICE.type, (dist.get_world_size(),))";
  return fmt::format("init_device_mesh(DEVICE.type, ({}, {}), mesh_dim_names=(\"replicate\", \"shard\"))",
                     mesh.replicate, mesh.shard);
}

// Arguments of fully_shard() that all units have.
std::string common_lines(const ExportSubject& subject, const ScriptUnits& units) {
  std::string lines = fmt::format("    common = {{\"mesh\": {}}}\n", mesh_line(subject));
  if (subject.scenario.offload->parameters != OffloadTarget::none) {
    const bool pins = subject.scenario.offload->pin && !on_processors(subject);
    lines +=
        fmt::format("    common[\"offload_policy\"] = CPUOffloadPolicy(pin_memory={})\n", python_bool(pins));
  }
  if (!units.ignored.empty())
    lines += fmt::format(
        "    common[\"ignored_params\"] = {{p for path in {} for p in "
        "model.get_submodule(path).parameters()}}\n",
        python_literal(units.ignored));
  return lines;
}

std::string quoted_classes(const std::vector<std::string>& classes) {
  return fmt::format("(\"{}\",)", fmt::join(classes, "\", \""));
}

std::string one_unit(const ExportSubject& subject, const ScriptUnit& unit) {
  const std::string module =
      unit.paths.size() == 1
          ? fmt::format("model.get_submodule(\"{}\")", unit.paths.front())
          : fmt::format("[model.get_submodule(path) for path in {}]", python_literal(unit.paths));
  return fmt::format("    units.append(fully_shard({}, **common, {}){})\n", module,
                     settings_of(subject, unit.settings, false), unit.paths.size() == 1 ? "" : "[0]");
}

std::string unit_lines(const ExportSubject& subject, const ScriptUnits& units) {
  if (units.inner.empty()) return "    units = []\n";
  if (units.classes.empty()) {
    std::string lines = "    units = []\n";
    for (const ScriptUnit& unit : units.inner) lines += one_unit(subject, unit);
    return lines + "    units.reverse()  # in the order of their definition\n";
  }
  return fmt::format(
      "    units = [module for module in model.modules() if type(module).__name__ in {}]\n"
      "    for unit in reversed(units):\n        fully_shard(unit, **common, {})\n",
      quoted_classes(units.classes), settings_of(subject, units.inner.front().settings, false));
}

std::string prefetch_lines(const ExportSubject& subject) {
  const PrefetchSpec& prefetch = subject.scenario.parallel->prefetch;
  std::string lines;
  if (prefetch.forward_depth > 0)
    lines += fmt::format(
        "    order = [model, *units]\n    for i, unit in enumerate(order):\n"
        "        unit.set_modules_to_forward_prefetch(order[i + 1:i + 1 + {}])\n",
        prefetch.forward_depth);
  if (prefetch.backward_depth > 0)
    lines += fmt::format(
        "    order = [model, *reversed(units)]\n    for i, unit in enumerate(order):\n"
        "        unit.set_modules_to_backward_prefetch(order[i + 1:i + 1 + {}])\n",
        prefetch.backward_depth);
  return lines;
}

std::string fill_text(const ExportSubject& subject) {
  if (!fills_from_rank0(subject)) return {};
  const bool in_host = subject.scenario.offload->parameters != OffloadTarget::none;
  return filled(k_fill, {{"PLACE", in_host ? "\"cpu\"" : "DEVICE"}});
}

}  // namespace

std::string fsdp2_sharding(const ExportSubject& subject) {
  const auto units = script_units(subject);
  if (!units) return {};
  return fill_text(subject) +
         filled(k_fsdp2_shard,
                {{"COMMON", common_lines(subject, *units)},
                 {"UNITS", unit_lines(subject, *units)},
                 {"ROOT", fmt::format("common, {}", settings_of(subject, units->root.settings, true))},
                 {"PREFETCH", prefetch_lines(subject)},
                 {"FILL", checkpoints_outside(subject) ? "    checkpoint_layers(model)\n" : ""}});
}

}  // namespace shardlab
