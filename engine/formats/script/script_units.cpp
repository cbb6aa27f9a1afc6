#include "engine/formats/script/script_units.h"

#include <algorithm>

#include "engine/model/wrap/wrap_modules.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

std::vector<std::string> paths_of(const ModelGraph& graph, const WrappedModules& wrapped, ModuleId unit) {
  for (const JoinedModules& joined : wrapped.joined) {
    if (joined.front() != unit) continue;
    std::vector<std::string> paths;
    for (const ModuleId id : joined) paths.push_back(graph.module(id).path);
    return paths;
  }
  return {graph.module(unit).path};
}

bool are_alike(const std::vector<ScriptUnit>& units) {
  return std::all_of(units.begin(), units.end(), [&](const ScriptUnit& unit) {
    return unit.paths.size() == 1 && unit.settings == units.front().settings;
  });
}

// The classes of the units, if they name the same modules.
std::vector<std::string> naming_classes(const ModelGraph& graph, const ScriptUnits& units) {
  if (units.inner.empty() || !units.ignored.empty() || !are_alike(units.inner)) return {};
  std::vector<std::string> classes;
  std::vector<std::string> paths;
  for (const ScriptUnit& unit : units.inner) paths.push_back(unit.paths.front());
  for (const Module& module : graph.modules) {
    const bool is_unit = std::find(paths.begin(), paths.end(), module.path) != paths.end();
    if (is_unit && std::find(classes.begin(), classes.end(), module.class_name) == classes.end())
      classes.push_back(module.class_name);
  }
  for (const Module& module : graph.modules) {
    const bool named = std::find(classes.begin(), classes.end(), module.class_name) != classes.end();
    if (named && std::find(paths.begin(), paths.end(), module.path) == paths.end()) return {};
  }
  return classes;
}

}  // namespace

Result<ScriptUnits> script_units(const ExportSubject& subject) {
  const ModelGraph& graph = subject.graph;
  SHARDLAB_TRY(const WrappedModules wrapped, wrap_modules(graph, subject.scenario.parallel->wrap));
  SHARDLAB_TRY(const SettingsByModule settings, resolve_unit_settings(subject.scenario, graph, wrapped));
  ScriptUnits units;
  for (const ModuleId id : wrapped.units) {
    ScriptUnit unit{paths_of(graph, wrapped, id), settings.at(id)};
    (id == ModuleId{0} ? units.root : units.inner.emplace_back()) = std::move(unit);
  }
  // Definition order has the outer ones first.
  std::reverse(units.inner.begin(), units.inner.end());
  for (const ModuleId id : wrapped.ignored) units.ignored.push_back(graph.module(id).path);
  units.classes = naming_classes(graph, units);
  return units;
}

}  // namespace shardlab
