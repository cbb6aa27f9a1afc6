#include "engine/checkpoint/model_weights.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/scenario/resolve_path.h"

namespace shardlab {
namespace {

constexpr std::size_t k_named = 3;  // of each kind of difference

std::string list_some(const std::vector<std::string>& names) {
  const std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), k_named)));
  const std::string more = names.size() > k_named ? fmt::format(" and {} more", names.size() - k_named) : "";
  return fmt::format("{}{}", fmt::join(some, ", "), more);
}

std::string shape_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// Names under which the modules of the model hold parameters: each tied one has several.
std::set<std::string, std::less<>> all_names(const ModelGraph& graph) {
  std::set<std::string, std::less<>> names;
  for (const Parameter& parameter : graph.parameters) names.insert(parameter.name);
  for (const Module& module : graph.modules) {
    for (const ParameterId id : module.parameters) {
      const std::string& name = graph.parameter(id).name;
      const std::string leaf = name.substr(name.rfind('.') + 1);
      names.insert(module.path.empty() ? leaf : module.path + "." + leaf);
    }
  }
  return names;
}

}  // namespace

Status match_model(const SafetensorsReader& weights, const ModelGraph& graph) {
  std::vector<std::string> missing, shapes, unknown;
  for (const Parameter& parameter : graph.parameters) {
    const auto found = weights.tensors().find(parameter.name);
    if (found == weights.tensors().end()) {
      missing.push_back(parameter.name);
    } else if (found->second.shape != parameter.shape) {
      shapes.push_back(fmt::format("{} is {} where the model has {}", parameter.name,
                                   shape_text(found->second.shape), shape_text(parameter.shape)));
    }
  }
  const auto known = all_names(graph);
  for (const auto& [name, entry] : weights.tensors()) {
    if (!known.contains(name)) unknown.push_back(name);
  }
  std::vector<std::string> complaints;
  if (!missing.empty()) complaints.push_back("missing: " + list_some(missing));
  if (!shapes.empty()) complaints.push_back("another shape: " + list_some(shapes));
  if (!unknown.empty()) complaints.push_back("not in the model: " + list_some(unknown));
  if (complaints.empty()) return {};
  return bad_input(weights.path().string(),
                   fmt::format("does not fit the model; {}", fmt::join(complaints, "; ")),
                   "model.config and model.weights must belong together");
}

Result<SafetensorsReader> open_model_weights(const Scenario& scenario, const ModelGraph& graph) {
  SHARDLAB_TRY(const std::filesystem::path path, resolve_path(scenario, scenario.model.weights));
  SHARDLAB_TRY(SafetensorsReader reader, SafetensorsReader::open(path));
  SHARDLAB_CHECK_OK(match_model(reader, graph));
  return reader;
}

}  // namespace shardlab
