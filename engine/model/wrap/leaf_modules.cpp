#include "engine/model/wrap/leaf_modules.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/model/lora/add_adapters.h"
#include "engine/model/wrap/module_sizes.h"

namespace shardlab {
namespace {

std::string_view last_part(std::string_view qualified) {
  return qualified.substr(qualified.rfind('.') + 1);
}

// peft's wrappers stand before the names of the model's own modules.
std::vector<std::string> names_of(const ModelGraph& graph) {
  const bool is_adapted = has_adapters(graph);
  std::vector<std::string> names;
  for (const Module& module : graph.modules) {
    const std::string prefix = module.path.empty() ? "base_model.model" : "base_model.model.";
    names.push_back(is_adapted ? prefix + module.path : module.path);
  }
  return names;
}

template <typename Predicate>
bool any(const std::vector<std::string>& texts, Predicate&& matches) {
  return std::any_of(texts.begin(), texts.end(), matches);
}

bool is_named(const Module& module, const std::string& name, const LeafSpec& spec) {
  return any(spec.classes, [&](const std::string& said) { return last_part(said) == module.class_name; }) ||
         any(spec.names, [&](const std::string& said) { return said == name; }) ||
         any(spec.name_suffixes, [&](const std::string& said) { return name.ends_with(said); });
}

std::vector<std::string> classes_of(const ModelGraph& graph) {
  std::vector<std::string> classes;
  for (const Module& module : graph.modules) classes.push_back(module.class_name);
  return classes;
}

tl::unexpected<Error> unknown(const std::string& key, std::string_view what, const std::string& said,
                              std::string_view compared, const std::vector<std::string>& known) {
  const auto nearest = nearest_name(compared, known);
  return bad_input(
      key, fmt::format("leaf_module: no module has the {} {}", what, said),
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "`shardlab model` lists the modules");
}

}  // namespace

std::vector<ModuleId> leaf_modules(const ModelGraph& graph, const LeafSpec& spec) {
  const std::vector<std::string> names = names_of(graph);
  const std::vector<std::int64_t> elements =
      module_elements(graph, std::vector<bool>(graph.parameters.size()));
  std::vector<ModuleId> leaves;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    const auto id = make_id<ModuleId>(i);
    if (elements[i] > 0 && is_named(graph.modules[i], names[i], spec) && !lies_within_any(graph, id, leaves))
      leaves.push_back(id);
  }
  return leaves;
}

Status check_leaf_modules(const ModelGraph& graph, const LeafSpec& spec, const std::string& key) {
  const std::vector<std::string> names = names_of(graph);
  const std::vector<std::string> classes = classes_of(graph);
  const std::vector<std::string> asked =
      spec.classes == LeafSpec().classes ? std::vector<std::string>() : spec.classes;
  for (const std::string& said : asked) {
    const std::string_view name = last_part(said);
    if (!any(classes, [&](const std::string& known) { return known == name; }))
      return unknown(key, "class", said, name, classes);
  }
  for (const std::string& said : spec.names) {
    if (!any(names, [&](const std::string& known) { return known == said; }))
      return unknown(key, "name", said, said, names);
  }
  for (const std::string& said : spec.name_suffixes) {
    if (!any(names, [&](const std::string& known) { return known.ends_with(said); }))
      return unknown(key, "end of a name", said, said, names);
  }
  return {};
}

}  // namespace shardlab
