#include "engine/scenario/resolve_units.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/parse.h"
#include "engine/model/wrap/module_match.h"
#include "engine/model/wrap/module_sizes.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// A unit's settings while overrides are laid over them: what follows from another key is filled in last.
struct Layers {
  ReshardAfterForward reshard_after_forward;
  PrecisionSpec precision;
};

// The texts have been checked when the scenario was read; `none` is the scenario's way to unset a dtype.
void lay_over(Layers& layers, const std::string& key, const std::string& text) {
  PrecisionSpec& p = layers.precision;
  if (key == "reshard_after_forward") layers.reshard_after_forward = *parse_reshard_after_forward(text);
  if (key == "precision.param") p.param = parse_dtype(text);
  if (key == "precision.reduce") p.reduce = parse_dtype(text);
  if (key == "precision.output") p.output = parse_dtype(text);
  if (key == "precision.cast_forward_inputs") {
    const auto cast = parse_boolean(text);
    p.cast_forward_inputs = cast ? std::optional<bool>(*cast) : std::nullopt;
  }
}

UnitSettings settled(const Scenario& scenario, const Layers& layers) {
  const PrecisionSpec& p = layers.precision;
  const bool casts_by_default = facts_of(scenario).casts_inputs_by_default;
  const bool casts =
      p.param && p.cast_forward_inputs.value_or(casts_by_default);  // nothing is cast without a param_dtype
  const DType param = p.param.value_or(scenario.model->dtype);
  return {{param, p.reduce.value_or(param), p.output, casts}, layers.reshard_after_forward};
}

std::vector<std::string> classes_of(const ModelGraph& graph, std::span<const ModuleId> units) {
  std::vector<std::string> classes;
  for (const ModuleId id : units) {
    const std::string& name = graph.module(id).class_name;
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) classes.push_back(name);
  }
  return classes;
}

// The units that the override speaks of.
Result<std::vector<ModuleId>> matching_units(const ModelGraph& graph, std::span<const std::int64_t> elements,
                                             const WrappedModules& wrapped, const WrapOverride& change,
                                             const std::string& key) {
  SHARDLAB_TRY(std::vector<ModuleId> modules, matching_modules(graph, elements, change.match, key));
  for (ModuleId& module : modules) {
    for (const JoinedModules& joined : wrapped.joined) {
      if (std::find(joined.begin(), joined.end(), module) != joined.end()) module = joined.front();
    }
  }
  std::vector<ModuleId> found;
  for (const ModuleId unit : wrapped.units) {
    if (std::find(modules.begin(), modules.end(), unit) != modules.end()) found.push_back(unit);
  }
  if (!found.empty()) return found;
  const Module& first = graph.module(modules.front());
  return bad_input(key, fmt::format("'{}' ({}) matches, but is no unit", first.path, first.class_name),
                   fmt::format("units are of class {}", fmt::join(classes_of(graph, wrapped.units), ", ")));
}

// What an override asks of the root of a model that is trained.
Status check_root_override(const Scenario& scenario, const WrapOverride& change, std::size_t index) {
  const auto setting = change.settings.find("reshard_after_forward");
  const std::string_view why = facts_of(scenario).why_root_stays;
  if (why.empty() || setting == change.settings.end()) return {};
  const auto reshard = parse_reshard_after_forward(setting->second);
  if (reshard->kind != ReshardKind::always) return {};
  return bad_input(fmt::format("parallel.wrap.overrides[{}].settings", index),
                   fmt::format("reshard_after_forward: true has no effect on the root with strategy {}: {}",
                               strategy_name(scenario), why),
                   "remove it, or use " + proposed_for("parallel.reshard_after_forward"));
}

}  // namespace

Result<SettingsByModule> resolve_unit_settings(const Scenario& scenario, const ModelGraph& graph,
                                               const WrappedModules& wrapped, Backward backward) {
  std::map<ModuleId, Layers> layers;
  const ModuleId root = wrapped.units.front();
  for (const ModuleId unit : wrapped.units) {
    const bool below_root = unit != root || backward == Backward::never;
    layers[unit] = {below_root ? scenario.parallel->reshard_after_forward : ReshardAfterForward{},
                    *scenario.precision};
  }
  const std::vector<WrapOverride>& overrides = scenario.parallel->wrap.overrides;
  std::vector<std::int64_t> elements;
  if (!overrides.empty()) elements = module_elements(graph, std::vector<bool>(graph.parameters.size()));
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const std::string key = fmt::format("parallel.wrap.overrides[{}].match", i);
    SHARDLAB_TRY(const std::vector<ModuleId> found,
                 matching_units(graph, elements, wrapped, overrides[i], key));
    if (backward == Backward::follows && found.front() == root)
      SHARDLAB_CHECK_OK(check_root_override(scenario, overrides[i], i));
    for (const ModuleId unit : found) {
      for (const auto& [name, text] : overrides[i].settings) lay_over(layers[unit], name, text);
    }
  }
  SettingsByModule settings;
  for (const auto& [unit, laid] : layers) settings.emplace(unit, settled(scenario, laid));
  return settings;
}

std::optional<std::size_t> deciding_override(const Scenario& scenario, const ModelGraph& graph,
                                             std::span<const ModuleId> unit, const std::string& key) {
  const std::vector<WrapOverride>& overrides = scenario.parallel->wrap.overrides;
  if (overrides.empty()) return std::nullopt;
  const std::vector<std::int64_t> elements =
      module_elements(graph, std::vector<bool>(graph.parameters.size()));
  for (std::size_t i = overrides.size(); i-- > 0;) {
    const bool matches = std::any_of(unit.begin(), unit.end(), [&](ModuleId module) {
      return matches_module(overrides[i].match, graph.module(module), elements[module.index()]);
    });
    if (matches && overrides[i].settings.count(key) > 0) return i;
  }
  return std::nullopt;
}

}  // namespace shardlab
