#include "engine/model/wrap/joined_modules.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/path_pattern.h"
#include "engine/model/wrap/module_match.h"
#include "engine/model/wrap/module_sizes.h"

namespace shardlab {
namespace {

bool contains(std::span<const ModuleId> modules, ModuleId id) {
  return std::find(modules.begin(), modules.end(), id) != modules.end();
}

bool holds_parameters(const ModelGraph& graph, ModuleId id) {
  for (std::size_t i = id.index(); i < graph.modules.size(); ++i) {
    if (!graph.modules[i].parameters.empty() && lies_within(graph, make_id<ModuleId>(i), id)) return true;
  }
  return false;
}

class Reader {
 public:
  Reader(const ModelGraph& graph, std::span<const ModuleId> ignored) : graph_(graph), ignored_(ignored) {}

  Result<JoinedModules> read(const std::vector<std::string>& patterns, const std::string& key) const {
    JoinedModules named;
    for (std::size_t i = 0; i < patterns.size(); ++i)
      SHARDLAB_CHECK_OK(add(patterns[i], fmt::format("{}[{}]", key, i), named));
    JoinedModules outermost;
    for (const ModuleId id : named) {
      const std::optional<ModuleId> parent = graph_.module(id).parent;
      if (!parent || !lies_within_any(graph_, *parent, named)) outermost.push_back(id);
    }
    if (outermost.size() < 2)
      return bad_input(key, "names one module alone: there is nothing to join it with",
                       "name several, or make it a unit by the policy");
    return outermost;
  }

 private:
  Status add(const std::string& pattern, const std::string& key, JoinedModules& named) const {
    bool found = false;
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < graph_.modules.size(); ++i) {
      const Module& module = graph_.modules[i];
      paths.push_back(module.path);
      if (!matches_path(pattern, module.path)) continue;
      SHARDLAB_CHECK_OK(check(make_id<ModuleId>(i), key));
      found = true;
      if (!contains(named, make_id<ModuleId>(i))) named.push_back(make_id<ModuleId>(i));
    }
    if (found) return {};
    const auto near = nearest_name(pattern, paths);
    return bad_input(
        key, "no module of this model matches '" + pattern + "'",
        near ? "did you mean '" + *near + "'?" : "`shardlab model` lists the paths; ** crosses dots");
  }

  Status check(ModuleId id, const std::string& key) const {
    const Module& module = graph_.module(id);
    if (!module.parent)
      return bad_input(key, "names the model itself, which is the root unit", "name modules");
    if (is_container(module))
      return bad_input(key,
                       fmt::format("'{}' is a {}, which has no forward: nothing would gather its parameters",
                                   module.path, module.class_name),
                       "name the modules in it: " + module.path + ".*");
    if (lies_within_any(graph_, id, ignored_))
      return bad_input(key, fmt::format("'{}' is one of parallel.wrap.ignored", module.path),
                       "remove one of the two");
    if (!holds_parameters(graph_, id))
      return bad_input(key, fmt::format("'{}' has no parameters", module.path), "remove it");
    return {};
  }

  const ModelGraph& graph_;
  std::span<const ModuleId> ignored_;
};

// The innermost unit around a module that is not of it.
ModuleId unit_around(const ModelGraph& graph, std::span<const ModuleId> units,
                     std::span<const JoinedModules> joined, ModuleId id) {
  ModuleId around = *graph.module(id).parent;
  for (; graph.module(around).parent; around = *graph.module(around).parent) {
    if (contains(units, around)) return around;
    for (const JoinedModules& modules : joined) {
      if (contains(modules, around)) return modules.front();
    }
  }
  return around;
}

}  // namespace

Result<std::vector<JoinedModules>> joined_modules(const ModelGraph& graph,
                                                  std::span<const std::vector<std::string>> lists,
                                                  std::span<const ModuleId> ignored) {
  std::vector<JoinedModules> joined;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::string key = fmt::format("parallel.wrap.together[{}]", i);
    SHARDLAB_TRY(JoinedModules modules, Reader(graph, ignored).read(lists[i], key));
    for (const JoinedModules& other : joined) {
      for (const ModuleId id : modules) {
        if (contains(other, id))
          return bad_input(key, fmt::format("'{}' is in another list already", graph.module(id).path),
                           "a module is in one unit");
      }
    }
    joined.push_back(std::move(modules));
  }
  return joined;
}

Result<std::vector<ModuleId>> with_joined_units(const ModelGraph& graph, std::vector<ModuleId> units,
                                                std::span<const JoinedModules> joined) {
  for (const JoinedModules& modules : joined)
    std::erase_if(units, [&](ModuleId id) { return contains(modules, id); });
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const ModuleId first = joined[i].front(), home = unit_around(graph, units, joined, first);
    for (const ModuleId other : joined[i]) {
      if (unit_around(graph, units, joined, other) == home) continue;
      return bad_input(fmt::format("parallel.wrap.together[{}]", i),
                       fmt::format("'{}' and '{}' lie in different units", graph.module(first).path,
                                   graph.module(other).path),
                       "join modules that have the same unit around them");
    }
  }
  for (const JoinedModules& modules : joined) units.push_back(modules.front());
  std::sort(units.begin(), units.end());
  return units;
}

}  // namespace shardlab
