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

void ModuleWalk::enter_hollow(ModuleId module, bool with_gradient, std::vector<ModuleId>& entered) const {
  for (const ModuleId id : graph_.module(module).children) {
    const Module& child = graph_.module(id);
    if (is_container(child)) enter_hollow(id, with_gradient, entered);
    if (!child.children.empty() || !child.parameters.empty() || is_container(child)) continue;
    if (!with_gradient || !child.of_positions) entered.push_back(id);
  }
}

void ModuleWalk::enter(ModuleId module, std::vector<ModuleId>& entered) const {
  if (gathers(module)) return;
  const std::size_t times = graph_.module(module).parent || !is_adapted_ ? 1 : 2;
  entered.insert(entered.end(), times, module);
}

std::vector<ModuleId> ModuleWalk::forward(UnitId unit) {
  const std::vector<ModuleId> chain = chain_of(unit);
  std::vector<ModuleId> entered;
  for (std::size_t i = close_others(chain); i < chain.size(); ++i) {
    if (i > 0) {
      const int before = entered_[chain[i - 1]]++;
      if (before == 0) first_child_[chain[i - 1]] = chain[i];
      if (before == 1) enter_hollow(chain[i - 1], false, entered);
    }
    entered_[chain[i]] = 0;
    enter(chain[i], entered);
    open_.push_back(chain[i]);
  }
  return entered;
}

std::vector<ModuleId> ModuleWalk::backward(UnitId unit) {
  if (!in_backward_) open_.clear();  // forward is over, the model's own included
  in_backward_ = true;
  const std::vector<ModuleId> chain = chain_of(unit);
  std::vector<ModuleId> entered;
  for (std::size_t i = close_others(chain); i < chain.size(); ++i) {
    if (i > 0 && first_child_[chain[i - 1]] == chain[i]) enter_hollow(chain[i - 1], true, entered);
    enter(chain[i], entered);
    open_.push_back(chain[i]);
  }
  return entered;
}

}  // namespace shardlab
