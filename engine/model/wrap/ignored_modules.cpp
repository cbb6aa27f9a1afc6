#include "engine/model/wrap/ignored_modules.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/path_pattern.h"
#include "engine/model/wrap/module_sizes.h"

namespace shardlab {
namespace {

constexpr const char* k_key = "parallel.wrap.ignored";

Status check_pattern(const ModelGraph& graph, const std::string& pattern) {
  std::vector<std::string> paths;
  for (const Module& module : graph.modules) {
    if (module.parent && matches_path(pattern, module.path)) return {};
    if (module.parent) paths.push_back(module.path);
  }
  const auto near = nearest_name(pattern, paths);
  return bad_input(
      k_key, "no module of this model matches '" + pattern + "'",
      near ? "did you mean '" + *near + "'?" : "`shardlab model` lists the paths; ** crosses dots");
}

Status check_parameters(const ModelGraph& graph, std::span<const ModuleId> ignored) {
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    const bool inside = lies_within_any(graph, make_id<ModuleId>(i), ignored);
    for (const ParameterId id : graph.modules[i].parameters) {
      const Parameter& parameter = graph.parameter(id);
      if (inside && parameter.trainable) {
        return bad_input(k_key,
                         fmt::format("{} is trained: nobody would reduce the gradients of an ignored "
                                     "parameter, and the ranks would "
                                     "drift apart",
                                     parameter.name),
                         "freeze it with model.frozen, or leave it to a unit");
      }
      if (inside != lies_within_any(graph, parameter.module, ignored)) {
        return bad_input(
            k_key, fmt::format("{} is tied to a parameter of '{}'", parameter.name, graph.modules[i].path),
            "ignore both modules or none");
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ModuleId>> ignored_modules(const ModelGraph& graph,
                                              std::span<const std::string> patterns) {
  std::vector<ModuleId> ignored;
  if (patterns.empty()) return ignored;
  for (const std::string& pattern : patterns) SHARDLAB_CHECK_OK(check_pattern(graph, pattern));
  for (std::size_t i = 1; i < graph.modules.size(); ++i) {
    const auto id = make_id<ModuleId>(i);
    const bool named = std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return matches_path(pattern, graph.module(id).path);
    });
    if (named && !lies_within_any(graph, id, ignored)) ignored.push_back(id);
  }
  SHARDLAB_CHECK_OK(check_parameters(graph, ignored));
  return ignored;
}

std::vector<bool> parameters_within(const ModelGraph& graph, std::span<const ModuleId> modules) {
  std::vector<bool> within(graph.parameters.size(), false);
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (!lies_within_any(graph, make_id<ModuleId>(i), modules)) continue;
    for (const ParameterId id : graph.modules[i].parameters) within[id.index()] = true;
  }
  return within;
}

}  // namespace shardlab
