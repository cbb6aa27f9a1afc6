#include "engine/strategies/zero3/module_walk.h"

#include <algorithm>
#include <optional>

#include "engine/model/wrap/module_match.h"

namespace shardlab {

void ModuleWalk::begin() {
  open_.clear();
  entered_.clear();
  in_backward_ = false;
}

std::vector<ModuleId> ModuleWalk::chain_of(UnitId unit) const {
  std::vector<ModuleId> chain;
  for (std::optional<ModuleId> id = partition_.unit(unit).modules.front(); id;
       id = graph_.module(*id).parent) {
    if (!is_container(graph_.module(*id))) chain.push_back(*id);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::size_t ModuleWalk::close_others(const std::vector<ModuleId>& chain) {
  std::size_t common = 0;
  while (common < open_.size() && common < chain.size() && open_[common] == chain[common]) ++common;
  open_.resize(common);
  return common;
}

int ModuleWalk::leaves_in(ModuleId module, bool with_gradient) const {
  int leaves = 0;
  for (const ModuleId child : graph_.module(module).children) {
    const Module& leaf = graph_.module(child);
    if (is_container(leaf)) leaves += leaves_in(child, with_gradient);
    if (!leaf.children.empty() || !leaf.parameters.empty() || is_container(leaf)) continue;
    if (!with_gradient || !leaf.of_positions) ++leaves;
  }
  return leaves;
}

int ModuleWalk::without_parameters(ModuleId module) const {
  if (!is_empty(module)) return 0;
  return graph_.module(module).parent || !is_adapted_ ? 1 : 2;
}

int ModuleWalk::forward(UnitId unit) {
  const std::vector<ModuleId> chain = chain_of(unit);
  int empty = 0;
  for (std::size_t i = close_others(chain); i < chain.size(); ++i) {
    if (i > 0) {
      const int before = entered_[chain[i - 1]]++;
      if (before == 0) first_child_[chain[i - 1]] = chain[i];
      if (before == 1) empty += leaves_in(chain[i - 1], false);
    }
    entered_[chain[i]] = 0;
    empty += without_parameters(chain[i]);
    open_.push_back(chain[i]);
  }
  return empty;
}

int ModuleWalk::backward(UnitId unit) {
  if (!in_backward_) open_.clear();  // forward is over, the model's own included
  in_backward_ = true;
  const std::vector<ModuleId> chain = chain_of(unit);
  int empty = 0;
  for (std::size_t i = close_others(chain); i < chain.size(); ++i) {
    if (i > 0 && first_child_[chain[i - 1]] == chain[i]) empty += leaves_in(chain[i - 1], true);
    empty += without_parameters(chain[i]);
    open_.push_back(chain[i]);
  }
  return empty;
}

}  // namespace shardlab
