#include "engine/strategies/zero3/module_reads.h"

#include <algorithm>

#include "engine/model/wrap/leaf_modules.h"

namespace shardlab {
namespace {

void add(std::vector<ParameterId>& to, const std::vector<ParameterId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void each_once(std::vector<ParameterId>& parameters) {
  std::sort(parameters.begin(), parameters.end());
  parameters.erase(std::unique(parameters.begin(), parameters.end()), parameters.end());
}

}  // namespace

ModuleReads::ModuleReads(const ModelGraph& graph, const Partition& partition, const LeafSpec& leaves)
    : partition_(partition),
      leaves_(graph.modules.size()),
      own_(graph.modules.size()),
      below_(graph.modules.size()) {
  for (const ModuleId leaf : leaf_modules(graph, leaves)) leaves_[leaf.index()] = true;
  // Modules are listed before those below them.
  for (std::size_t i = graph.modules.size(); i-- > 0;) {
    const Module& module = graph.modules[i];
    add(own_[i], module.parameters);
    add(own_[i], module.looks_at);
    add(below_[i], own_[i]);
    each_once(own_[i]);
    each_once(below_[i]);
    if (module.parent) add(below_[module.parent->index()], below_[i]);
  }
}

}  // namespace shardlab
