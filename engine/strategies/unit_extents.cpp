#include "engine/strategies/unit_extents.h"

#include <algorithm>
#include <optional>

#include "engine/model/loss_operators.h"

namespace shardlab {
namespace {

constexpr std::size_t k_never = ~std::size_t{0};

struct Extent {
  std::size_t first = k_never;
  std::size_t last = 0;
};

std::vector<Extent> extents_of(const ModelGraph& graph, const Partition& partition, bool loss_inside) {
  std::vector<std::optional<UnitId>> unit_of_module(graph.modules.size());
  for (std::size_t u = 0; u < partition.units.size(); ++u) {
    if (partition.units[u].ignored) continue;
    for (const ModuleId module : partition.units[u].modules)
      unit_of_module[module.index()] = make_id<UnitId>(u);
  }
  std::vector<Extent> extents(partition.units.size());
  const OperatorId end =
      loss_inside ? make_id<OperatorId>(graph.operators.size()) : first_loss_operator(graph);
  for (std::size_t i = 0; i < partition.segments.size() && partition.segments[i].begin < end; ++i) {
    std::optional<ModuleId> module = partition.unit(partition.segments[i].unit).modules.front();
    for (; module; module = graph.module(*module).parent) {
      const std::optional<UnitId> unit = unit_of_module[module->index()];
      if (!unit) continue;
      Extent& extent = extents[unit->index()];
      extent.first = std::min(extent.first, i);
      extent.last = std::max(extent.last, i);
    }
  }
  return extents;
}

}  // namespace

UnitExtents find_extents(const ModelGraph& graph, const Partition& partition, bool loss_inside) {
  UnitExtents result;
  result.enters.resize(partition.segments.size());
  result.leaves.resize(partition.segments.size());
  const std::vector<Extent> extents = extents_of(graph, partition, loss_inside);
  for (std::size_t u = 0; u < extents.size(); ++u) {  // outer units come first: they have lower ids
    if (extents[u].first == k_never) continue;
    result.enters[extents[u].first].push_back(make_id<UnitId>(u));
    auto& leaves = result.leaves[extents[u].last];
    leaves.insert(leaves.begin(), make_id<UnitId>(u));
  }
  return result;
}

std::vector<UnitId> UnitExtents::in_order() const {
  std::vector<UnitId> order;
  for (const std::vector<UnitId>& units : enters) order.insert(order.end(), units.begin(), units.end());
  return order;
}

}  // namespace shardlab
