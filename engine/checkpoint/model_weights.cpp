#include "engine/checkpoint/model_weights.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/checkpoint/published_names.h"
#include "engine/scenario/model_spec.h"
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

// The parameter as the model without adapters has it.
Parameter base_of(const Parameter& parameter) {
  Parameter base = parameter;
  if (!base.base_name.empty()) base.name = base.base_name;
  return base;
}

// Names under which the modules of the model hold parameters: each tied one has several.
std::set<std::string, std::less<>> all_names(const ModelGraph& graph) {
  std::set<std::string, std::less<>> names;
  for (const Parameter& parameter : graph.parameters) {
    names.insert(parameter.name);
    names.insert(base_of(parameter).name);
    for (const PublishedTensor& tensor : published_tensors(graph, base_of(parameter)))
      names.insert(tensor.name);
  }
  for (const Module& module : graph.modules) {
    for (const ParameterId id : module.parameters) {
      const std::string& name = graph.parameter(id).name;
      const std::string leaf = name.substr(name.rfind('.') + 1);
      names.insert(module.path.empty() ? leaf : module.path + "." + leaf);
    }
  }
  return names;
}

// The tensors a parameter is read from: published ones only where there is none under its own name, or that
// without adapters; none for an adapter that is not there.
std::vector<PublishedTensor> tensors_of(const SafetensorsReader& weights, const ModelGraph& graph,
                                        const Parameter& its) {
  const bool own = weights.tensors().contains(its.name);
  if (its.adapter && !own) return {};
  const Parameter parameter = own ? its : base_of(its);
  std::vector<PublishedTensor> published = published_tensors(graph, parameter);
  const bool stacked = published.empty() || weights.tensors().contains(parameter.name);
  const bool any = std::any_of(published.begin(), published.end(), [&](const PublishedTensor& tensor) {
    return weights.tensors().contains(tensor.name);
  });
  if (stacked || !any) return {{parameter.name, parameter.shape, 0}};
  return published;
}

}  // namespace

Status match_model(const SafetensorsReader& weights, const ModelGraph& graph) {
  std::vector<std::string> missing, shapes, unknown;
  for (const Parameter& parameter : graph.parameters) {
    for (const PublishedTensor& tensor : tensors_of(weights, graph, parameter)) {
      const auto found = weights.tensors().find(tensor.name);
      if (found == weights.tensors().end()) {
        missing.push_back(tensor.name);
      } else if (found->second.shape != tensor.shape) {
        shapes.push_back(fmt::format("{} is {} where the model has {}", tensor.name,
                                     shape_text(found->second.shape), shape_text(tensor.shape)));
      }
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
  return bad_input(in_file(weights.path().string()),
                   fmt::format("does not fit the model; {}", fmt::join(complaints, "; ")),
                   "model.config and model.weights must belong together");
}

bool has_parameter(const SafetensorsReader& weights, const Parameter& parameter) {
  return !parameter.adapter || weights.tensors().contains(parameter.name);
}

Status read_parameter(const SafetensorsReader& weights, const ModelGraph& graph, const Parameter& parameter,
                      std::int64_t first, std::span<float> values) {
  const std::int64_t end = first + static_cast<std::int64_t>(values.size());
  for (const PublishedTensor& tensor : tensors_of(weights, graph, parameter)) {
    const std::int64_t from = std::max(first, tensor.first);
    const std::int64_t to = std::min(end, tensor.first + element_count(tensor.shape));
    if (from >= to) continue;
    const auto part =
        values.subspan(static_cast<std::size_t>(from - first), static_cast<std::size_t>(to - from));
    SHARDLAB_CHECK_OK(weights.read(tensor.name, from - tensor.first, part));
  }
  return {};
}

Result<SafetensorsReader> open_model_weights(const Scenario& scenario, const ModelGraph& graph) {
  SHARDLAB_TRY(const std::filesystem::path path, resolve_path(scenario, scenario.model->weights));
  SHARDLAB_TRY(SafetensorsReader reader, SafetensorsReader::open(path));
  SHARDLAB_CHECK_OK(match_model(reader, graph));
  return reader;
}

}  // namespace shardlab
