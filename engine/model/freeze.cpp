#include "engine/model/freeze.h"

#include <algorithm>
#include <vector>

#include "engine/base/nearest.h"
#include "engine/base/path_pattern.h"

namespace shardlab {
namespace {

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

std::string path_of(const Module& owner, const Parameter& parameter) {
  return (owner.path.empty() ? std::string() : owner.path + '.') + std::string(last_name(parameter.name));
}

// Freezes below one module; `all`: the pattern names a module around it. Says whether the pattern named
// anything.
bool freeze_below(ModelGraph& graph, ModuleId id, const std::string& pattern, bool all) {
  const Module& module = graph.modules[id.index()];
  all = all || matches_path(pattern, module.path);
  bool found = false;
  for (const ParameterId parameter : module.parameters) {
    Parameter& p = graph.parameters[parameter.index()];
    if (!all && !matches_path(pattern, path_of(module, p))) continue;
    p.trainable = p.requires_grad = false;
    found = true;
  }
  for (const ModuleId child : module.children) found = freeze_below(graph, child, pattern, all) || found;
  return found;
}

std::vector<std::string> known_paths(const ModelGraph& graph) {
  std::vector<std::string> paths;
  for (const Module& module : graph.modules) paths.push_back(module.path);
  for (const Parameter& parameter : graph.parameters) paths.push_back(parameter.name);
  return paths;
}

}  // namespace

Status freeze_parameters(ModelGraph& graph, std::span<const std::string> patterns) {
  if (patterns.empty()) return {};
  for (const std::string& pattern : patterns) {
    if (freeze_below(graph, ModuleId{0}, pattern, false)) continue;
    const std::vector<std::string> paths = known_paths(graph);
    const auto near = nearest_name(pattern, paths);
    return bad_input(
        "model.frozen", "no parameter of this model matches '" + pattern + "'",
        near ? "did you mean '" + *near + "'?" : "`shardlab model` lists the paths; ** crosses dots");
  }
  if (trainable_parameters(graph) == 0) {
    return bad_input("model.frozen", "all parameters are frozen, nothing would be trained", "leave one out");
  }
  derive_requires_grad(graph);
  return {};
}

void derive_requires_grad(ModelGraph& graph) {
  for (const Operator& op : graph.operators) {
    const bool needed = std::any_of(op.inputs.begin(), op.inputs.end(),
                                    [&](TensorId id) { return graph.tensor(id).requires_grad; }) ||
                        std::any_of(op.parameters.begin(), op.parameters.end(),
                                    [&](ParameterId id) { return graph.parameter(id).requires_grad; });
    for (const TensorId output : op.outputs) {
      Tensor& tensor = graph.tensors[output.index()];
      tensor.requires_grad = needed && is_floating_point(tensor.dtype);
    }
  }
}

bool require_gradients_by_unit(ModelGraph& graph, std::span<const UnitId> unit_of_parameter) {
  std::vector<bool> trained;  // by UnitId
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::size_t unit = unit_of_parameter[i].index();
    if (trained.size() <= unit) trained.resize(unit + 1);
    if (graph.parameters[i].trainable) trained[unit] = true;
  }
  bool changed = false;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    Parameter& parameter = graph.parameters[i];
    if (parameter.requires_grad || !trained[unit_of_parameter[i].index()]) continue;
    parameter.requires_grad = changed = true;
  }
  if (changed) derive_requires_grad(graph);
  return changed;
}

}  // namespace shardlab
