#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/formats/script/script_units.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_fsdp1_shard = R"py(

def shard(model):
    """Each unit is one flat parameter, of which every rank keeps its part."""
    units = @UNITS@
    model = FSDP(
        model, auto_wrap_policy=@POLICY@,
@ARGUMENTS@    )
@AFTER@    return model
)py";

// The modules below the root that become units.
std::string units_of(const ScriptUnits& units) {
  if (!units.classes.empty())
    return fmt::format("{{module for module in model.modules() if type(module).__name__ in (\"{}\",)}}",
                       fmt::join(units.classes, "\", \""));
  std::vector<std::string> paths;
  for (const ScriptUnit& unit : units.inner) paths.push_back(unit.paths.front());
  return fmt::format("{{model.get_submodule(path) for path in {}}}", python_literal(paths));
}

std::string mixed_precision_of(const ExportSubject& subject) {
  const PrecisionSpec& precision = *subject.scenario.precision;
  const auto dtype = [](const char* name, const std::optional<DType>& value) {
    return value ? fmt::format("{}={}", name, torch_dtype(*value)) : std::string();
  };
  const auto flag = [](const char* name, bool value) {
    return value ? fmt::format("{}=True", name) : std::string();
  };
  const std::string arguments =
      joined_arguments({dtype("param_dtype", precision.param), dtype("reduce_dtype", precision.reduce),
                        dtype("buffer_dtype", precision.buffer),
                        flag("keep_low_precision_grads", precision.keep_low_precision_grads),
                        flag("cast_forward_inputs", precision.cast_forward_inputs.value_or(false))});
  return arguments.empty() ? "" : fmt::format("mixed_precision=MixedPrecision({})", arguments);
}

std::string mesh_of(const ExportSubject& subject) {
  if (!is_hybrid(subject.scenario.parallel->sharding)) return {};
  const ResolvedMesh mesh = resolve_mesh(subject.scenario);
  return fmt::format(
      "device_mesh=init_device_mesh(DEVICE.type, ({}, {}), mesh_dim_names=(\"replicate\", \"shard\"))",
      mesh.replicate, mesh.shard);
}

std::string strategy_of(const ExportSubject& subject) {
  const bool private_name = subject.scenario.parallel->sharding == Fsdp1Sharding::hybrid_shard_zero2;
  return fmt::format("ShardingStrategy.{}{}", private_name ? "_" : "", sharding_word(subject));
}

std::string prefetch_of(const ExportSubject& subject) {
  const std::string word = prefetch_word(subject);
  return "backward_prefetch=" + (word == "NO_PREFETCH" ? "None" : "BackwardPrefetch." + word);
}

std::string ignored_of(const ScriptUnits& units) {
  if (units.ignored.empty()) return {};
  return fmt::format("ignored_modules=[model.get_submodule(path) for path in {}]",
                     python_literal(units.ignored));
}

std::string offload_of(const ExportSubject& subject) {
  return offloads_parameters(subject) ? "cpu_offload=CPUOffload(offload_params=True)" : "";
}

}  // namespace

std::string fsdp1_sharding(const ExportSubject& subject) {
  const auto units = script_units(subject);
  if (!units) return {};
  std::string arguments;
  for (const std::string& argument :
       {"sharding_strategy=" + strategy_of(subject), mesh_of(subject), mixed_precision_of(subject),
        prefetch_of(subject), "forward_prefetch=" + python_bool(prefetches_forward(subject)),
        "limit_all_gathers=" + python_bool(limits_gathers(subject)),
        "use_orig_params=" + python_bool(uses_orig_params(subject)), offload_of(subject), ignored_of(*units),
        std::string("device_id=DEVICE")}) {
    if (!argument.empty()) arguments += fmt::format("        {},\n", argument);
  }
  return filled(k_fsdp1_shard,
                {{"UNITS", units->inner.empty() ? "set()" : units_of(*units)},
                 {"POLICY", "functools.partial(lambda_auto_wrap_policy, lambda_fn=units.__contains__)"},
                 {"ARGUMENTS", arguments},
                 {"AFTER", checkpoints_outside(subject) ? "    checkpoint_layers(model)\n" : ""}});
}

}  // namespace shardlab
