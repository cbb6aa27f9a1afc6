#include "engine/model/wrap/module_match.h"

#include <algorithm>

#include "engine/base/nearest.h"
#include "engine/base/path_pattern.h"

namespace shardlab {
namespace {

bool has_path(const ModelGraph& graph, std::string_view pattern) {
  return std::any_of(graph.modules.begin(), graph.modules.end(),
                     [&](const Module& module) { return matches_path(pattern, module.path); });
}

// What is meant most often: stars that cross dots, or a path with a typing mistake.
std::string path_hint(const ModelGraph& graph, const std::string& pattern) {
  std::string crossing;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    crossing += pattern[i];
    if (pattern[i] == '*' && (i == 0 || pattern[i - 1] != '*') && pattern.substr(i, 2) != "**")
      crossing += '*';
  }
  if (crossing != pattern && has_path(graph, crossing)) {
    return "* stays inside one name, ** crosses dots: did you mean '" + crossing + "'?";
  }
  std::vector<std::string> paths;
  for (const Module& module : graph.modules) paths.push_back(module.path);
  if (const auto nearest = nearest_name(pattern, paths)) return "did you mean '" + *nearest + "'?";
  return "`shardlab model` lists the modules";
}

std::vector<std::string> unit_classes(const ModelGraph& graph) {
  std::vector<std::string> known;
  for (const Module& module : graph.modules) {
    if (is_container(module)) continue;
    if (std::find(known.begin(), known.end(), module.class_name) == known.end())
      known.push_back(module.class_name);
  }
  return known;
}

}  // namespace

bool is_container(const Module& module) {
  return module.class_name == "ModuleList" || module.class_name == "ModuleDict" ||
         module.class_name == "ParameterDict";
}

bool matches_module(const WrapMatch& pattern, const Module& module, std::int64_t elements) {
  if (!pattern.class_name.empty() && module.class_name != pattern.class_name) return false;
  if (pattern.min_params && elements < *pattern.min_params) return false;
  if (pattern.max_params && elements > *pattern.max_params) return false;
  return pattern.path.empty() || matches_path(pattern.path, module.path);
}

Result<std::vector<ModuleId>> matching_modules(const ModelGraph& graph,
                                               std::span<const std::int64_t> elements,
                                               const WrapMatch& pattern, const std::string& key) {
  if (!pattern.class_name.empty())
    SHARDLAB_CHECK_OK(check_unit_class(graph, pattern.class_name, key + ".class"));
  if (!pattern.path.empty() && !has_path(graph, pattern.path)) {
    return bad_input(key + ".path", "no module's path matches '" + pattern.path + "'",
                     path_hint(graph, pattern.path));
  }
  std::vector<ModuleId> found;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (matches_module(pattern, graph.modules[i], elements[i])) found.push_back(make_id<ModuleId>(i));
  }
  if (found.empty())
    return bad_input(key, "no module matches all of it",
                     "`shardlab model` lists the modules with their sizes");
  return found;
}

Status check_unit_class(const ModelGraph& graph, const std::string& class_name, const std::string& key) {
  const auto found = std::find_if(graph.modules.begin(), graph.modules.end(),
                                  [&](const Module& module) { return module.class_name == class_name; });
  if (found == graph.modules.end()) {
    const std::vector<std::string> known = unit_classes(graph);
    const auto near = nearest_name(class_name, known);
    // Somebody who names another family's layer looks for this one's.
    return bad_input(key, "no module of class '" + class_name + "' in this model",
                     near ? "did you mean '" + *near + "'?"
                          : "the layers of this model are of class '" + graph.block_class + "'");
  }
  if (!is_container(*found)) return {};
  const std::string hint =
      found->children.empty() ? "" : "name " + graph.module(found->children.front()).class_name;
  return bad_input(key, "a " + class_name + " has no forward: nothing would gather its parameters", hint);
}

}  // namespace shardlab
