#include "engine/model/wrap/transformer_wrap.h"

#include <algorithm>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

std::vector<std::string> known_classes(const ModelGraph& graph) {
  std::vector<std::string> known;
  for (const Module& module : graph.modules) {
    if (std::find(known.begin(), known.end(), module.class_name) == known.end()) known.push_back(module.class_name);
  }
  return known;
}

}  // namespace

Result<std::vector<ModuleId>> modules_of_classes(const ModelGraph& graph, std::span<const std::string> classes) {
  const std::string layer[] = {graph.block_class};
  const std::span<const std::string> wanted = classes.empty() ? std::span<const std::string>(layer) : classes;
  std::vector<ModuleId> wrapped;
  for (const std::string& name : wanted) {
    const std::size_t before = wrapped.size();
    for (std::size_t i = 0; i < graph.modules.size(); ++i) {
      if (graph.modules[i].class_name == name) wrapped.push_back(make_id<ModuleId>(i));
    }
    if (wrapped.size() == before) {
      const std::vector<std::string> known = known_classes(graph);
      return bad_input("parallel.wrap.classes", "no module of class '" + name + "' in this model", suggestion(name, known));
    }
  }
  return wrapped;
}

}  // namespace shardlab
