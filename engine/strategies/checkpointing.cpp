#include "engine/strategies/checkpointing.h"

#include <algorithm>
#include <string>

#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

bool is_unit(const Partition& partition, ModuleId module) {
  return std::any_of(partition.units.begin(), partition.units.end(),
                     [&](const Unit& unit) { return unit.module == module; });
}

}  // namespace

Result<std::vector<CheckpointRegion>> regions_of(const Scenario& scenario, ModelGraph& graph) {
  const ActivationSpec& spec = scenario.activation;
  if (spec.checkpoint == "none") return std::vector<CheckpointRegion>{};
  SHARDLAB_TRY(std::vector<CheckpointRegion> regions,
               checkpoint_regions(graph, spec.every, spec.placement == "outside", spec.reentrant));
  if (spec.checkpoint != "selective") return regions;
  if (spec.reentrant)
    return bad_input("activation.reentrant", "PyTorch's selective checkpointing is not reentrant",
                     "remove it");
  std::vector<RetainedKind> kinds;
  for (const std::string& text : spec.operators) {
    SHARDLAB_TRY(const RetainedKind kind, parse_retained_kind(text));
    kinds.push_back(kind);
  }
  SHARDLAB_CHECK_OK(retain_operators(graph, regions, kinds));
  return regions;
}

Status check_regions(const Scenario& scenario, const ModelGraph& graph, const Partition& partition) {
  const ActivationSpec& spec = scenario.activation;
  const std::vector<Region>& regions = partition.regions;
  const bool any_unit = std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
    return is_unit(partition, region.operators.module);
  });
  if (!regions.empty() && spec.placement == "outside" && !any_unit) {
    return bad_input("activation.placement",
                     "outside has no effect: none of the checkpointed layers is a unit",
                     "remove it, or make the layers units (parallel.wrap.policy: transformer)");
  }
  const StrategyType* const strategy = strategy_named(scenario.parallel.strategy);
  if (strategy == nullptr || strategy->check_regions == nullptr) return {};
  return strategy->check_regions(scenario, graph, partition);
}

}  // namespace shardlab
